import Glibc
import KleosSupport

/// Submissions as a game would send them, about 230 bytes each; no two have one id.
package struct EventLines: LoadLanguage {
    /// How the client's own ids follow each other.
    package enum Order: Sendable {
        /// Each begins with the time, as those of KleosClient do.
        case time
        case random
    }

    private let game: [UInt8]
    private let players: UInt64
    private let order: Order
    private var random = SeededGenerator.unpredictable()
    private var number: UInt64 = 0

    /// Makes events of `game` for so many players, each of whom is a stream of the endpoint.
    package init(game: String, players: Int = 1_000, order: Order = .time) {
        self.game = Array(game.utf8)
        self.players = UInt64(max(1, players))
        self.order = order
    }

    /// The next submission alone, with its line feed.
    package mutating func next() -> [UInt8] {
        var bytes: [UInt8] = []
        appendRequest(to: &bytes)
        return bytes
    }

    package mutating func appendRequest(to bytes: inout [UInt8]) {
        number += 1
        bytes += Self.start
        Self.append(number, to: &bytes)
        bytes += Self.method
        bytes += game
        bytes += Self.player
        // The players come in an order that is none, as they do in life.
        Self.append(random.next() % players, to: &bytes)
        bytes += Self.value
        Self.append(number, to: &bytes)
        bytes += Self.id
        appendID(to: &bytes)
        bytes += Self.metadata
        Self.append(number, to: &bytes)
        bytes += Self.end
    }

    package func isRefusal(_ line: UnsafeRawBufferPointer) -> Bool {
        var rest = line.dropFirst(Self.answer.count).drop { $0 != UInt8(ascii: ",") }
        rest = rest.prefix(Self.result.count)
        return !(line.starts(with: Self.answer) && rest.elementsEqual(Self.result))
    }

    /// A UUID of version 7 or 4.
    private mutating func appendID(to bytes: inout [UInt8]) {
        let first = random.next()
        let second = random.next()
        let high = order == .time ? Self.wallMilliseconds << 16 | 0x7000 | first & 0xFFF : first & ~0xF000 | 0x4000
        let low = second & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        for (word, dashes) in [(high, [32, 16]), (low, [64, 48])] {
            for shift in stride(from: 60, through: 0, by: -4) {
                if dashes.contains(shift + 4) { bytes.append(UInt8(ascii: "-")) }
                bytes.append(Self.digits[Int(word >> UInt64(shift) & 0xF)])
            }
        }
    }

    /// Alone, since reading every clock takes longer than the rest of an event.
    private static var wallMilliseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(digits[Int(number / divisor % 10)])
            divisor /= 10
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
    private static let start = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)
    private static let method = Array(",\"method\":\"submit\",\"params\":{\"kind\":\"score\",\"game\":\"".utf8)
    private static let player = Array("\",\"player\":\"player-".utf8)
    private static let value = Array("\",\"leaderboard\":\"runs\",\"value\":".utf8)
    private static let id = Array(",\"id\":\"".utf8)
    private static let metadata = Array("\",\"metadata\":{\"seed\":\"".utf8)
    private static let end = Array("\"}}}\n".utf8)
    private static let answer = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)
    private static let result = Array(",\"result\"".utf8)
}
