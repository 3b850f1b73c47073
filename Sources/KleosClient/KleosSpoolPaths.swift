/// Where the spools of daemons are. Pure.
package enum KleosSpoolPaths {
    /// The spool folders to try for the daemons of these sockets, best first: the one that `KLEOS_SPOOL` names alone,
    /// else of each socket the folder in which its daemon looks.
    package static func candidates(sockets: [String], environment: (String) -> String?) -> [String] {
        if let folder = environment("KLEOS_SPOOL") { return [folder] }
        var all: [String] = []
        for folder in sockets.flatMap({ folders(of: $0, environment: environment) }) where !all.contains(folder) {
            all.append(folder)
        }
        return all
    }

    /// The system's daemon, a user's own in either of its places, or else a private daemon, which keeps everything in
    /// one folder.
    private static func folders(of socket: String, environment: (String) -> String?) -> [String] {
        let folder = socket.lastIndex(of: "/").map { String(socket[..<$0]) } ?? "."
        if folder == "/run/kleos" { return ["/var/spool/kleos"] }
        let home = environment("HOME")
        let own = [environment("XDG_RUNTIME_DIR").map { "\($0)/kleos" }, home.map { "\($0)/.local/share/kleos" }]
        guard own.contains(folder) else { return ["\(folder)/spool"] }
        // A container may set XDG_STATE_HOME to a place of its own, where no daemon looks and no spool is.
        let states = [environment("XDG_STATE_HOME"), home.map { "\($0)/.local/state" }]
        return states.compactMap { $0 }.map { "\($0)/kleos/spool" }
    }
}
