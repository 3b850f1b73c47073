import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// A user's own daemon, reached from games that see little of the machine, as Steam and Flatpak run them.
@Suite(
    "Reach: contained games", .enabled(if: ContainedGame.reasonAgainst == nil, "\(ContainedGame.reasonAgainst ?? "")"))
struct ReachTests {
    private let home: UserDaemon

    init() throws {
        home = try UserDaemon()
    }

    /// Runs `kleos submit` in a container in which of the temporary folders only `shared` exist.
    private func submit(_ value: Int, sharing shared: [String]) throws -> ChildProcess.Result {
        try ContainedGame.run(
            [BuiltPrograms.path("kleos"), "submit", "score", "g", "b", String(value), "--player", "mira"],
            environment: home.environment, sharing: shared, folder: home.folder)
    }

    @Test("A game in a container that shares the home folder gets through, without the runtime folder")
    func sharedHome() throws {
        let result = try submit(1, sharing: [home.home])
        #expect(result.isSuccess, "\(result.errors)")
        #expect(try home.count() == 1)
    }

    @Test("A game in a container that shares only xdg-run/kleos gets through, without the home folder")
    func sharedRuntimeFolder() throws {
        let result = try submit(2, sharing: ["\(home.runtime)/kleos"])
        #expect(result.isSuccess, "\(result.errors)")
        #expect(try home.count() == 1)
    }

    @Test("A container that shares neither reaches nothing, so that the two above prove something")
    func sharedNothing() throws {
        _ = try submit(3, sharing: [])
        #expect(try home.count() == 0)
    }
}

/// A `kleosd --user` in folders of its own.
final class UserDaemon {
    let folder: TemporaryFolder
    private let daemon: ChildProcess

    var home: String { folder.path("home") }
    var runtime: String { folder.path("run") }
    /// What a game of the user has in its environment.
    var environment: [String: String] { ["HOME": home, "XDG_RUNTIME_DIR": runtime, "NO_COLOR": "1"] }

    init(settings: String = "") throws {
        folder = try TemporaryFolder(prefix: "user")
        let configuration = folder.path("home/.config/kleos")
        for path in ["\(configuration)/games.d", "\(configuration)/endpoints.d", folder.path("run")] {
            try Folder.make(path)
        }
        try SmallFile.replace("\(configuration)/kleosd.conf", with: Array(settings.utf8))
        try SmallFile.replace(
            "\(configuration)/games.d/g.conf",
            with: Array("[Game]\nEndpoints=nowhere\n[Leaderboard b]\nKeep=best\n".utf8))
        try SmallFile.replace(
            "\(configuration)/endpoints.d/nowhere.conf", with: Array("[Endpoint]\nURL=http://127.0.0.1:9\n".utf8))
        // The daemon says "ready" in its log when it serves; a socket that answers is what a game waits for.
        let variables = ["HOME": folder.path("home"), "XDG_RUNTIME_DIR": folder.path("run")]
        daemon = try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--user", "--config", configuration], environment: variables,
            errorFile: folder.path("log"))
        let isUp = Patience.until { access(folder.path("home/.local/share/kleos/kleos.sock"), F_OK) == 0 }
        let said = try SmallFile.readText(at: folder.path("log"))
        try #require(isUp, "the daemon said: \(said)")
    }

    deinit {
        daemon.send(SIGTERM)
        _ = daemon.wait()
    }

    /// The events that are there.
    func count() throws -> Int {
        let result = try ChildProcess(
            BuiltPrograms.path("kleos"), ["list", "--json"], environment: environment,
            errorFile: folder.path("list.err")
        ).finish()
        try #require(result.isSuccess, "\(result.errors)")
        return result.output.split(separator: "\n").count
    }
}

/// Programs in a container, by bubblewrap, which Flatpak and Steam build theirs with.
enum ContainedGame {
    private static let bubblewrap = "/usr/bin/bwrap"

    /// Why there can be no containers here; nil where there can.
    static let reasonAgainst: String? = {
        guard access(bubblewrap, X_OK) == 0 else { return "needs the Debian package bubblewrap" }
        do {
            let folder = try TemporaryFolder()
            let result = try run(["/bin/true"], environment: [:], sharing: [], folder: folder)
            return result.isSuccess ? nil : "bubblewrap may make no containers here: \(result.errors)"
        } catch {
            return "bubblewrap cannot be run: \(error)"
        }
    }()

    /// Runs `words` with all of the machine to read, but of the folders for temporary files and for users only the built
    /// programs and `shared`, and with namespaces of its own for all else.
    static func run(
        _ words: [String], environment: [String: String], sharing shared: [String], folder: TemporaryFolder
    ) throws -> ChildProcess.Result {
        let errors = folder.path("contained.err")
        unlink(errors)
        var arguments = [
            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run",
            "--unshare-all", "--die-with-parent",
        ]
        // Where TMPDIR names another folder for temporary files.
        if let slash = folder.path.lastIndex(of: "/") { arguments += ["--tmpfs", String(folder.path[..<slash])] }
        // Among temporary files, where the package was built there.
        arguments += ["--ro-bind", BuiltPrograms.folder, BuiltPrograms.folder]
        for path in shared { arguments += ["--bind", path, path] }
        return try ChildProcess(
            bubblewrap, arguments + ["--"] + words, environment: environment, errorFile: errors
        ).finish()
    }
}
