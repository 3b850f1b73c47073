import KleosModel

/// Short numbers that find a row; the full values of the row decide.
enum KeyHash {
    /// FNV-1a over a number and texts, each ended by a byte that UTF-8 never has.
    static func number(_ number: Int64, _ parts: [String]) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for shift in 0..<8 { mix(UInt8(truncatingIfNeeded: number >> Int64(8 * shift))) }
        for part in parts {
            for byte in part.utf8 { mix(byte) }
            mix(0xFF)
        }
        return Int64(bitPattern: hash)
    }
}

/// SipHash-2-4 (Aumasson and Bernstein, 2012): a hash that nobody without its key can aim at.
struct SipHash {
    private var state: (UInt64, UInt64, UInt64, UInt64)
    private var tail: UInt64 = 0
    private var count: UInt64 = 0

    init(_ key: (UInt64, UInt64)) {
        state = (
            key.0 ^ 0x736F_6D65_7073_6575, key.1 ^ 0x646F_7261_6E64_6F6D, key.0 ^ 0x6C79_6765_6E65_7261,
            key.1 ^ 0x7465_6462_7974_6573
        )
    }

    /// Adds a byte.
    mutating func add(byte: UInt8) {
        tail |= UInt64(byte) << (8 * (count & 7))
        count += 1
        if count & 7 == 0 {
            compress(tail)
            tail = 0
        }
    }

    /// Adds text, ended by a byte that UTF-8 never has.
    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte: byte) }
        add(byte: 0xFF)
    }

    /// Adds a number.
    mutating func add(_ number: Int64) {
        for shift in 0..<8 { add(byte: UInt8(truncatingIfNeeded: number >> Int64(8 * shift))) }
    }

    /// The hash of what was added.
    func finish() -> UInt64 {
        var end = self
        end.compress(tail | (count & 0xFF) << 56)
        end.state.2 ^= 0xFF
        for _ in 0..<4 { end.round() }
        return end.state.0 ^ end.state.1 ^ end.state.2 ^ end.state.3
    }

    private mutating func compress(_ word: UInt64) {
        state.3 ^= word
        round()
        round()
        state.0 ^= word
    }

    private mutating func round() {
        func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
        state.0 &+= state.1
        state.1 = rotated(state.1, 13) ^ state.0
        state.0 = rotated(state.0, 32)
        state.2 &+= state.3
        state.3 = rotated(state.3, 16) ^ state.2
        state.0 &+= state.3
        state.3 = rotated(state.3, 21) ^ state.0
        state.2 &+= state.1
        state.1 = rotated(state.1, 17) ^ state.2
        state.2 = rotated(state.2, 32)
    }
}

/// What only this database knows: it masks the numbers in keys, and keeps users from aiming at each other's ids.
struct StoreSecret {
    private let keys: (UInt64, UInt64)

    /// How many low bits of a key carry its event's number.
    private static let numberBits: UInt64 = 40
    private static var mask: UInt64 { (1 << numberBits) - 1 }

    /// Reads 32 hexadecimal digits; nil for anything else.
    init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        keys = (high, low)
    }

    init(_ high: UInt64, _ low: UInt64) { keys = (high, low) }

    var text: String {
        [keys.0, keys.1].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    /// `key` with the number in its random part: whoever has many keys cannot tell how many events there were.
    func key(_ key: EventKey, carrying number: Int64) -> EventKey {
        let free = key.low & ~Self.mask
        return EventKey(high: key.high, low: free | (UInt64(number) ^ pad(key.high, free)) & Self.mask)
    }

    /// The number that a key of this database carries; any number for a key of another one.
    func number(in key: EventKey) -> Int64 {
        Int64((key.low ^ pad(key.high, key.low & ~Self.mask)) & Self.mask)
    }

    private func pad(_ high: UInt64, _ free: UInt64) -> UInt64 {
        var hash = SipHash(keys)
        hash.add(Int64(bitPattern: high))
        hash.add(Int64(bitPattern: free))
        return hash.finish()
    }

    /// Finds a client's id: its beginning, so that ids that follow each other in time lie side by side, and a hash of
    /// all that it is unique in.
    func hash(uid: UInt32, game: String, clientID: String) -> [UInt8] {
        var first = SipHash(keys)
        var second = SipHash((keys.1, ~keys.0))
        for part in [game, clientID] {
            first.add(part)
            second.add(part)
        }
        first.add(Int64(uid))
        second.add(Int64(uid))
        let text = Array(clientID.utf8)
        // A UUID begins with its time in hexadecimal; two of its digits make a byte.
        let time = text.count == 36 ? Self.time(text) : nil
        let prefix = time ?? Array((text + [UInt8](repeating: 0, count: 6)).prefix(6))
        let rest = (0..<8).map { UInt8(truncatingIfNeeded: first.finish() >> UInt64(8 * $0)) }
        return prefix + rest + (0..<2).map { UInt8(truncatingIfNeeded: second.finish() >> UInt64(8 * $0)) }
    }

    private static func time(_ text: [UInt8]) -> [UInt8]? {
        var digits: [UInt8] = []
        for byte in text.prefix(13) where byte != UInt8(ascii: "-") {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            digits.append(UInt8(digit))
        }
        guard digits.count == 12 else { return nil }
        return (0..<6).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
    }

    /// Of what the client decides about an event, its time left out.
    func content(of event: Event) -> Int64 {
        var hash = SipHash(keys)
        let stored = StoredMeasure(event.subject)
        for part in [event.game, event.player, event.subject.kind.rawValue, event.subject.item] { hash.add(part) }
        for number in [stored.kind.code, stored.amount, Int64(stored.decimals)] { hash.add(number) }
        for byte in event.metadata ?? [] { hash.add(byte: byte) }
        return Int64(bitPattern: hash.finish())
    }
}
