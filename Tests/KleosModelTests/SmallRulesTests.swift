import KleosModel
import KleosSupport
import Testing

/// The words that people read, and how old an event is.
@Suite struct SmallRulesTests {
    @Test(
        arguments: [
            ("beginer", "beginner"), ("BEGINNER", "beginner"), ("begniner", "beginner"), ("expart", "expert"),
            ("advanced", nil), ("", nil), ("b", nil), (String(repeating: "beginner", count: 9), nil),
        ] as [(String, String?)])
    func findsTheNearestName(name: String, nearest: String?) {
        #expect(Spelling.nearest(to: name, in: ["expert", "beginner", "intermediate"]) == nearest)
    }

    @Test func takesTheFirstOfEquallyNearNames() {
        #expect(Spelling.nearest(to: "bat", in: ["rat", "cat"]) == "cat")
        #expect(Spelling.nearest(to: "bat", in: []) == nil)
    }

    @Test(
        arguments: [
            (nil, "Colour"), ("", "Colour"), ("C", "Colour"), ("fr_FR.UTF-8", "Colour"), ("de", "Farbe"),
            ("de_AT.UTF-8", "Farbe"), ("de_DE@euro", "Farbe"), ("de-DE", "Farbe"), ("pt_BR.UTF-8", "Cor (BR)"),
            ("pt_PT.UTF-8", "Cor"), ("deu", "Colour"),
        ] as [(String?, String)])
    func choosesTheLanguage(locale: String?, text: String) {
        let title = LocalizedText("Colour", translations: ["de": "Farbe", "pt": "Cor", "pt_BR": "Cor (BR)"])
        #expect(title.text(forLocale: locale) == text)
    }

    private static func reading(
        wall: Int64, boot: Int64, id: String = "one", isSynchronized: Bool = true
    ) -> ClockReading {
        ClockReading(
            wallMilliseconds: wall, bootMilliseconds: boot, monotonicMilliseconds: 0, bootID: id,
            isSynchronized: isSynchronized)
    }

    @Test func agesByTheBootClockWithinABoot() {
        let recorded = Self.reading(wall: 1_000_000, boot: 500, isSynchronized: false)
        // The wall clock was set meanwhile, and does not count.
        #expect(EventAge.milliseconds(from: recorded, to: Self.reading(wall: 0, boot: 2_500)) == 2_000)
        #expect(EventAge.milliseconds(from: recorded, to: Self.reading(wall: .max, boot: 400)) == 0)
    }

    @Test(arguments: [(true, true, 9_000), (true, false, nil), (false, true, nil), (false, false, nil)])
    func agesByTheWallClockAcrossBootsWhereBothEndsCanBeTrusted(before: Bool, after: Bool, age: Int64?) {
        let recorded = Self.reading(wall: 1_000, boot: 500, isSynchronized: before)
        let now = Self.reading(wall: 10_000, boot: 5, id: "two", isSynchronized: after)
        #expect(EventAge.milliseconds(from: recorded, to: now) == age)
    }

    @Test func anUnknownBootIsNoBoot() {
        let recorded = Self.reading(wall: 1_000, boot: 500, id: "")
        #expect(EventAge.milliseconds(from: recorded, to: Self.reading(wall: 1_001, boot: 900, id: "")) == 1)
        let earlier = Self.reading(wall: 0, boot: 900, id: "two")
        #expect(EventAge.milliseconds(from: recorded, to: earlier) == 0)
    }
}
