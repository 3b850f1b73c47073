import Glibc
package import KleosSupport

/// A terminal that a test types in and reads: tmux, Debian's package, on a socket of its own.
package final class TerminalHarness {
    private let folder: TemporaryFolder
    private let output: FileDescriptor

    /// Whether tmux is installed.
    package static var isAvailable: Bool { access("/usr/bin/tmux", X_OK) == 0 }

    /// Starts `command`, a line for sh, which must not end before the harness is gone, in a terminal of the given size.
    /// `environment` adds to this process's variables; an empty value removes one. Throws `SystemError`.
    package init(
        _ command: String, environment: [String: String] = [:], columns: Int = 80, rows: Int = 24
    ) throws(SystemError) {
        folder = try TemporaryFolder(prefix: "terminal")
        let fifo = folder.path("output")
        guard mkfifo(fifo, 0o600) == 0 else { throw SystemError("make \(fifo)") }
        // Open for writing too, so that opening does not wait and the end never comes.
        output = try FileDescriptor.open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        var variables = ["LC_ALL": "C.UTF-8", "TMUX": "", "TERM": "xterm-256color", "NO_COLOR": ""]
        variables.merge(environment) { _, new in new }
        // Two commands at once, so that nothing of the output is missed.
        try tmux(
            [
                "new-session", "-d", "-x", String(columns), "-y", String(rows), command, ";",
                "set-option", "-g", "status", "off", ";",
                "pipe-pane", "-O", "exec cat >'\(fifo)'",
            ], environment: variables)
    }

    deinit {
        // The server may have ended with its last command.
        _ = try? run(["kill-server"], environment: [:])
    }

    /// Types: names of keys (`Up`, `Space`, `C-z`) or characters. Throws `SystemError`.
    package func type(_ keys: String...) throws(SystemError) {
        try tmux(["send-keys"] + keys)
    }

    /// Types keys that a test has worked out. Throws `SystemError`.
    package func type(_ keys: [String]) throws(SystemError) {
        if !keys.isEmpty { try tmux(["send-keys"] + keys) }
    }

    /// Makes the window larger or smaller. Throws `SystemError`.
    package func resize(columns: Int, rows: Int) throws(SystemError) {
        try tmux(["resize-window", "-x", String(columns), "-y", String(rows)])
    }

    /// What the screen shows; with `isStyled` the codes of colours and such are in it. Throws `SystemError`.
    package func screen(isStyled: Bool = false) throws(SystemError) -> String {
        try tmux(["capture-pane", "-p"] + (isStyled ? ["-e"] : []))
    }

    /// Waits until the screen satisfies a condition, and returns it. Throws `SystemError`, ETIMEDOUT with the screen
    /// after ten minutes.
    @discardableResult
    package func wait(for what: String, _ condition: (String) -> Bool) throws(SystemError) -> String {
        let clock = SystemClock()
        let deadline = clock.read().monotonicMilliseconds + 600_000
        while true {
            let screen = try screen()
            if condition(screen) { return screen }
            let left = deadline - clock.read().monotonicMilliseconds
            guard left > 0 else { throw SystemError("wait for \(what); the screen is:\n\(screen)", code: ETIMEDOUT) }
            var entry = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
            // The end of a command is no output, so that the screen is looked at now and then too.
            guard poll(&entry, 1, Int32(min(left, 500))) > 0 else { continue }
            _ = try output.read(limitBytes: 65_536)
        }
    }

    /// Waits until the screen shows a text, and returns it. Throws `SystemError`.
    @discardableResult
    package func wait(for text: String) throws(SystemError) -> String {
        try wait(for: text) { $0.contains(text) }
    }

    @discardableResult
    private func tmux(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(SystemError) -> String {
        let result = try run(arguments, environment: environment)
        guard result.isSuccess else {
            throw SystemError("tmux \(arguments): \(result.errors)", code: ECHILD)
        }
        return result.output
    }

    private func run(
        _ arguments: [String], environment: [String: String]
    ) throws(SystemError) -> ChildProcess.Result {
        try ChildProcess(
            "/usr/bin/tmux", ["-u", "-S", folder.path("tmux"), "-f", "/dev/null"] + arguments,
            environment: environment.merging(["LC_ALL": "C.UTF-8"]) { one, _ in one }, errorFile: folder.path("errors")
        ).finish()
    }
}
