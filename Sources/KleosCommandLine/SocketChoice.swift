package import KleosClient

/// Which sockets a command tries. Pure.
package struct SocketChoice: Sendable {
    private let submitPath: String?
    private let controlPath: String?
    private let privateFolder: String?
    private let environment: @Sendable (String) -> String?

    /// Reads the global options of `invocation`.
    package init(_ invocation: Invocation, environment: @escaping @Sendable (String) -> String?) {
        submitPath = invocation.value("socket")
        controlPath = invocation.value("control")
        privateFolder = invocation.value("private")
        self.environment = environment
    }

    /// The places to try for a socket, best first.
    ///
    /// What the command line names comes first and stays alone, then the variables `KLEOS_SOCKET` and
    /// `KLEOS_CONTROL_SOCKET`, then the user's own daemon, then the system's. The control socket is looked for beside
    /// a submit socket that was named.
    package func candidates(_ socket: KleosSocketPaths.Socket) -> [String] {
        let named = socket == .submit ? submitPath : controlPath
        if let named { return [named] }
        if let privateFolder { return ["\(privateFolder)/\(socket.rawValue)"] }
        if socket == .control, let submitPath { return [Self.sibling(of: submitPath)] }
        let variable = socket == .submit ? "KLEOS_SOCKET" : "KLEOS_CONTROL_SOCKET"
        if let path = environment(variable) { return [path] }
        if socket == .control, let path = environment("KLEOS_SOCKET") { return [Self.sibling(of: path)] }
        return daemons().flatMap { $0 }.map { "\($0)/\(socket.rawValue)" }
    }

    /// Whether the command line names the submit socket itself.
    package var isSubmitNamed: Bool { submitPath != nil }

    /// The spools to try where no daemon answers at `candidates(.submit)`, and where the one at `socket` is silent.
    package func spools(silent socket: String? = nil) -> [String] {
        KleosSpoolPaths.candidates(sockets: socket.map { [$0] } ?? candidates(.submit), environment: environment)
    }

    /// The submit sockets of each daemon that a long-running command follows.
    package func daemonSockets() -> [[String]] {
        let isNamed = submitPath != nil || privateFolder != nil || environment("KLEOS_SOCKET") != nil
        if isNamed { return [candidates(.submit)] }
        return daemons().map { folders in folders.map { "\($0)/\(KleosSocketPaths.Socket.submit.rawValue)" } }
    }

    private func daemons() -> [[String]] {
        var own: [String] = []
        if let runtime = environment("XDG_RUNTIME_DIR") { own.append("\(runtime)/kleos") }
        if let home = environment("HOME") { own.append("\(home)/.local/share/kleos") }
        return own.isEmpty ? [["/run/kleos"]] : [own, ["/run/kleos"]]
    }

    private static func sibling(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        return folder + KleosSocketPaths.Socket.control.rawValue
    }
}
