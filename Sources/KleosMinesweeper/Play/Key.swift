/// What a player can press, and what else a terminal tells.
package enum Key: Sendable, Equatable {
    case up
    case down
    case left
    case right
    /// The first or last column of the row.
    case home
    case end
    /// Space or enter.
    case open
    case character(Character)
    case escape
    case interrupt
    case suspend
    case refresh
    /// The terminal's window came to the front, or went from there.
    case focus(Bool)
}

/// Reads a terminal's bytes. Pure.
package struct KeyReader: Sendable {
    private var pending: [UInt8] = []

    /// Makes a reader that has read nothing.
    package init() {}

    /// Takes what was read at once, and returns the keys that are complete. An escape at the end counts as the key.
    package mutating func read(_ bytes: [UInt8]) -> [Key] {
        var rest = (pending + bytes)[...]
        pending = []
        var keys: [Key] = []
        while let byte = rest.first {
            if byte == 0x1B, rest.dropFirst().first == UInt8(ascii: "[") || rest.dropFirst().first == UInt8(ascii: "O")
            {
                guard let last = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                    // A sequence that is cut off goes on with the next bytes; one without end is none.
                    if rest.count < 32 { pending = Array(rest) }
                    return keys
                }
                if let key = Self.sequence(rest[rest.startIndex + 2...last]) { keys.append(key) }
                rest = rest[(last + 1)...]
            } else {
                if let key = Self.single(byte) { keys.append(key) }
                rest.removeFirst()
            }
        }
        return keys
    }

    private static func sequence(_ bytes: ArraySlice<UInt8>) -> Key? {
        switch String(decoding: bytes, as: UTF8.self) {
        case "A": .up
        case "B": .down
        case "C": .right
        case "D": .left
        case "H", "1~": .home
        case "F", "4~": .end
        case "I": .focus(true)
        case "O": .focus(false)
        default: nil
        }
    }

    private static func single(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x03: .interrupt
        case 0x0C: .refresh
        case 0x0A, 0x0D, 0x20: .open
        case 0x1A: .suspend
        case 0x1B: .escape
        case UInt8(ascii: "h"): .left
        case UInt8(ascii: "j"): .down
        case UInt8(ascii: "k"): .up
        case UInt8(ascii: "l"): .right
        case 0x21...0x7E: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }
}
