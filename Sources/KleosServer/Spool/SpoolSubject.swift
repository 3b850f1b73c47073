import KleosJSON
import KleosModel
import KleosWire

/// The player whose events are erased from the spool, and how they are told from those of others. Pure.
struct SpoolSubject: Sendable {
    var player: String
    /// Nil for all games.
    var game: String?
    /// Games whose events are this player's where they name nobody.
    var ownGames: Set<String> = []

    /// What a file comes to.
    struct Verdict: Equatable, Sendable {
        /// Events of the player in it.
        var erased = 0
        /// What else is in it, where some of it is the player's; empty where nothing is.
        var rest: [UInt8] = []
        /// Whether the player's name stands in a part that is no event, so that somebody has to look at it.
        var isUnclear = false

        /// Whether the file stays as it is.
        var isKept: Bool { erased == 0 && !isUnclear }
    }

    private static let limits = JSONLimits(depth: Limits.jsonDepth, maximumBytes: SpoolFile.maximumBytes)

    /// Looks through a file. One of the spool holds one event; one that was rejected may hold a list, or one on each
    /// line.
    func judge(_ bytes: [UInt8]) -> Verdict {
        // Why it is no JSON has been said in the rejection, or will be.
        switch try? JSONParser.parse(bytes, limits: Self.limits) {
        case .array(let elements)?:
            let others = elements.filter { !isMine($0) }
            let rest = others.isEmpty ? [] : JSONValue.array(others).serializedBytes + [0x0A]
            return Verdict(erased: elements.count - others.count, rest: rest)
        case let value?: return Verdict(erased: isMine(value) ? 1 : 0)
        case nil: return judge(lines: bytes)
        }
    }

    private func judge(lines bytes: [UInt8]) -> Verdict {
        var verdict = Verdict()
        var others: [ArraySlice<UInt8>] = []
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if let value = try? JSONParser.parse(Array(line), limits: Self.limits) {
                if isMine(value) {
                    verdict.erased += 1
                    continue
                }
            } else if mentions(line) {
                verdict.isUnclear = true
            }
            others.append(line)
        }
        let hasRest = others.contains { !$0.isEmpty }
        verdict.rest = hasRest ? Array(others.joined(separator: [0x0A])) : []
        return verdict
    }

    private func isMine(_ event: JSONValue) -> Bool {
        guard case .object(let members) = event else { return false }
        let named = members["game"]?.stringValue
        if let game, named.map({ ExactText.same($0, game) }) != true { return false }
        switch members["player"] {
        case .string(let text)?: return ExactText.same(text, player)
        case nil, .null?: return named.map(ownGames.contains) ?? false
        default: return false
        }
    }

    /// Whether the name stands in a text that cannot be read, as a word.
    private func mentions(_ text: ArraySlice<UInt8>) -> Bool {
        let spelled = JSONValue.string(player).serializedBytes.dropFirst().dropLast()
        for start in text.indices where text[start...].starts(with: spelled) {
            let end = start + spelled.count
            let isWord =
                (start == text.startIndex || !Self.isOfWord(text[start - 1]))
                && (end == text.endIndex || !Self.isOfWord(text[end]))
            if isWord { return true }
        }
        return false
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || Unicode.Scalar(byte).properties.isAlphabetic
            || (0x30...0x39).contains(byte)
    }
}

/// What erasing a player from the spool came to.
struct SpoolErasure: Sendable, Equatable {
    var events = 0
    /// Paths of files that somebody has to look at: the player's name stands in them, or they cannot be read or
    /// changed.
    var unclear: [String] = []
    /// Why the spool was not looked into.
    var trouble: String?
    /// When nothing of the spool was on its way into the queue, Unix milliseconds.
    var quietMilliseconds: Int64

    /// Files that are named.
    private static let maximumUnclear = 100

    /// Names a file.
    mutating func name(_ path: String) {
        if unclear.count < Self.maximumUnclear { unclear.append(path) }
    }
}
