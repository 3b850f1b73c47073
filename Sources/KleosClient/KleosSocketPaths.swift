import KleosSupport

/// Where the daemon's sockets may be.
package enum KleosSocketPaths {
    /// The two sockets of a daemon.
    package enum Socket: String, Sendable {
        case submit = "kleos.sock"
        case control = "control.sock"
    }

    /// The places to try, best first: the variable that names one (`KLEOS_SOCKET`, `KLEOS_CONTROL_SOCKET`) alone, else
    /// the user's own daemon, the same in the home folder (which containers share), and the system's daemon.
    package static func candidates(_ socket: Socket = .submit) -> [String] {
        let variable = socket == .submit ? "KLEOS_SOCKET" : "KLEOS_CONTROL_SOCKET"
        if let path = Environment[variable] { return [path] }
        var folders: [String] = []
        if let runtime = Environment["XDG_RUNTIME_DIR"] { folders.append("\(runtime)/kleos") }
        if let home = Environment["HOME"] { folders.append("\(home)/.local/share/kleos") }
        folders.append("/run/kleos")
        return folders.map { "\($0)/\(socket.rawValue)" }
    }
}
