import Glibc
import KleosJSON
package import KleosSupport

/// A session bus, and on demand an X server with dunst on it; all gone with the last reference.
package final class DesktopSession {
    private let folder: String
    private let bus: ChildProcess
    private var screen: ChildProcess?
    private var service: ChildProcess?
    /// The environment of programs in the session.
    package private(set) var variables: [String: String]

    /// The programs that are needed and the Debian packages that have them.
    private static let programs = ["dbus-daemon": "dbus-daemon", "Xvfb": "xvfb", "dunst": "dunst", "dunstctl": "dunst"]

    /// The packages that are missing on this machine.
    package static var missingPackages: [String] {
        Set(programs.filter { access("/usr/bin/\($0.key)", X_OK) != 0 }.values).sorted()
    }

    /// Starts a session bus that keeps its files in `folder`. Throws `SystemError`.
    package init(folder: String) throws(SystemError) {
        self.folder = folder
        bus = try ChildProcess(
            "/usr/bin/dbus-daemon", ["--session", "--nofork", "--print-address", "--address=unix:dir=\(folder)"],
            environment: ["DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": folder],
            errorFile: "\(folder)/bus.log")
        guard let address = try bus.nextLine() else { throw SystemError("read the bus's address", code: EPIPE) }
        variables = [
            "DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": folder, "HOME": folder, "DISPLAY": "",
            "KLEOS_SOCKET": "", "LANG": "C.UTF-8",
        ]
    }

    deinit {
        // They remove what they made outside of the folder only where they are asked to end.
        for process in [service, screen, bus].compactMap({ $0 }) {
            process.send(SIGTERM)
            _ = try? process.finish(timeoutMilliseconds: 30_000)
        }
    }

    /// Starts the X server and the notification service, which shows a notification that comes twice as two unless
    /// `stacksDuplicates`. Throws `SystemError`.
    package func startNotifications(stacksDuplicates: Bool = true) throws(SystemError) {
        let screen = try ChildProcess(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "800x400x24", "-nolisten", "tcp"],
            errorFile: "\(folder)/screen.log")
        guard let display = try screen.nextLine() else { throw SystemError("read the display", code: EPIPE) }
        self.screen = screen
        variables["DISPLAY"] = ":\(display)"
        let settings = """
            [global]
            font = Sans 12
            width = 420
            markup = full
            show_indicators = no
            stack_duplicates = \(stacksDuplicates ? "yes" : "no")
            [urgency_normal]
            timeout = 0
            """
        try SmallFile.replace("\(folder)/dunstrc", with: Array(settings.utf8))
        service = try ChildProcess(
            "/usr/bin/dunst", ["-conf", "\(folder)/dunstrc"], environment: variables,
            errorFile: "\(folder)/dunst.log")
    }

    /// A notification that was shown.
    package struct Shown: Sendable, Equatable {
        package var id: Int64
        package var application: String
        package var summary: String
        package var body: String
        package var category: String
    }

    /// Closes what is shown and returns everything that was, oldest first.
    /// Throws `SystemError`, and `JSONError` where dunstctl prints something else.
    package func history() throws -> [Shown] {
        _ = try control("close-all")
        let history = try JSONParser.parse(Array(try control("history").utf8))
        let entries = history["data"]?.arrayValue?.first?.arrayValue ?? []
        return entries.reversed().map { entry in
            func text(_ name: String) -> String { entry[name]?["data"]?.stringValue ?? "" }
            return Shown(
                id: entry["id"]?["data"]?.int64Value ?? 0, application: text("appname"), summary: text("summary"),
                body: text("body"), category: text("category"))
        }
    }

    /// Runs dunstctl and returns what it prints. Throws `SystemError`.
    package func control(_ verb: String) throws(SystemError) -> String {
        try ChildProcess(
            "/usr/bin/dunstctl", [verb], environment: variables, errorFile: "\(folder)/dunstctl.log"
        ).finish().output
    }

    /// Shows a notification of the test's own, and so waits until the service, which has fonts to find first, shows
    /// others without delay. Throws `SystemError`.
    package func showOne(_ summary: String) throws(SystemError) {
        while try !ChildProcess(
            "/usr/bin/dunstify", [summary], environment: variables, errorFile: "\(folder)/dunstify.log"
        ).finish().isSuccess {}
    }

    /// Takes a picture of the screen. Throws `SystemError`.
    package func takePicture(_ path: String) throws(SystemError) {
        _ = try ChildProcess(
            "/usr/bin/import", ["-window", "root", path], environment: variables, errorFile: "\(folder)/import.log"
        ).finish()
    }
}
