import KleosModel
import KleosSupport
import Testing

/// Keys are UUIDs of version 7, in the order of their time.
@Suite struct EventKeyTests {
    /// Gives the same number always.
    private struct Constant: RandomNumberGenerator {
        let value: UInt64
        func next() -> UInt64 { value }
    }

    @Test func hasTheBitsOfVersion7() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let time = Int64.random(in: 0..<(1 << 48), using: &random)
            let key = EventKey.version7(wallMilliseconds: time, random: &random)
            #expect(key.high >> 16 == UInt64(time))
            #expect(key.high >> 12 & 0xF == 7, "version")
            #expect(key.low >> 62 == 0b10, "variant")
            let text = Array(key.description)
            #expect(text[14] == "7")
            #expect("89ab".contains(text[19]))
        }
    }

    @Test(
        arguments: [
            (0, .max, "00000000-0000-7fff-bfff-ffffffffffff"), (0, 0, "00000000-0000-7000-8000-000000000000"),
            ((1 << 48) - 1, 0, "ffffffff-ffff-7000-8000-000000000000"),
            // A clock before 1970 makes keys of 1970.
            (-1, 0, "00000000-0000-7000-8000-000000000000"),
        ] as [(Int64, UInt64, String)])
    func takesAllItsOtherBitsFromTheRandomSource(time: Int64, bits: UInt64, text: String) {
        var random = Constant(value: bits)
        #expect(EventKey.version7(wallMilliseconds: time, random: &random).description == text)
    }

    @Test func differsWithinAMillisecond() {
        var random = SeededGenerator(seed: 1)
        let keys = (0..<10_000).map { _ in EventKey.version7(wallMilliseconds: 1_796_014_175_123, random: &random) }
        #expect(Set(keys).count == keys.count)
    }

    @Test(arguments: [
        "0193764f-2f4b-7c5a-8a6e-0123456789ab", "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ])
    func readsAndWritesTheUsualForm(text: String) throws {
        let key = try #require(EventKey(text))
        #expect(key.description == text)
        #expect(EventKey(text.uppercased()) == key)
    }

    @Test func putsTheDigitsInTheirPlaces() {
        let key = EventKey("0193764f-2f4b-7c5a-8a6e-0123456789ab")
        #expect(key == EventKey(high: 0x0193_764F_2F4B_7C5A, low: 0x8A6E_0123_4567_89AB))
    }

    @Test(arguments: [
        "", "0193764f", "0193764f2f4b7c5a8a6e0123456789ab", "0193764f-2f4b-7c5a-8a6e-0123456789a",
        "0193764f-2f4b-7c5a-8a6e-0123456789abc", "0193764f-2f4b-7c5a-8a6e0-123456789ab",
        "0193764g-2f4b-7c5a-8a6e-0123456789ab", "{193764f-2f4b-7c5a-8a6e-0123456789a}",
        " 193764f-2f4b-7c5a-8a6e-0123456789ab", "0193764f_2f4b_7c5a_8a6e_0123456789ab",
        "0193764f-2f4b-7c5a-8a6e-01234567é9a", "+193764f-2f4b-7c5a-8a6e-0123456789ab",
    ])
    func refusesEverythingElse(text: String) {
        #expect(EventKey(text) == nil)
    }

    @Test func sortsByTimeAndLikeItsText() {
        var random = SeededGenerator(seed: 3)
        var keys: [EventKey] = []
        for time in stride(from: Int64(1_000), to: 300_000, by: 997) {
            keys.append(EventKey.version7(wallMilliseconds: time, random: &random))
        }
        #expect(keys.shuffled(using: &random).sorted() == keys)
        let unordered = (0..<200).map { _ in EventKey(high: random.next(), low: random.next()) }
        #expect(unordered.sorted().map(\.description) == unordered.map(\.description).sorted())
        let one = EventKey(high: 1, low: 2)
        #expect(one < EventKey(high: 1, low: 3))
        #expect(one < EventKey(high: 2, low: 0))
        #expect(!(EventKey(high: 1, low: 3) < one))
    }
}
