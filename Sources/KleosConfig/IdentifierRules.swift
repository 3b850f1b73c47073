import KleosModel

/// What the ids of games, endpoints, leaderboards and achievements look like.
enum IdentifierRules {
    /// Why `id` cannot name a game or an endpoint, which become names of files and arguments; nil where it can.
    static func complaint(aboutName id: String) -> String? {
        let isPlain = id.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
        guard isPlain, id.utf8.first?.isLetterOrDigit == true else {
            return "a name has letters, digits, \".\", \"_\" and \"-\", and starts with a letter or digit"
        }
        return lengthComplaint(id)
    }

    /// Why `id` cannot name a leaderboard or an achievement; nil where it can.
    static func complaint(aboutItem id: String) -> String? {
        guard !id.isEmpty, id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) else {
            return "an id has visible ASCII characters only, without spaces, quotation marks and backslashes"
        }
        return lengthComplaint(id)
    }

    /// Why `player` cannot be a player; nil where it can.
    static func complaint(aboutPlayer player: String) -> String? {
        player.utf8.count <= Limits.playerBytes ? nil : "a player has at most \(Limits.playerBytes) bytes"
    }

    private static func lengthComplaint(_ id: String) -> String? {
        id.utf8.count <= Limits.nameBytes ? nil : "an id has at most \(Limits.nameBytes) bytes"
    }
}
