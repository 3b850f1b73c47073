import KleosMinesweeper
import KleosSupport
import Testing

@Suite struct PlayScreenTests {
    private static let screen = PlayScreen(theme: Theme(hasColor: false, hasUnicode: true), player: "mira")

    /// The lines without the codes of their styles.
    private func lines(
        _ play: Play, columns: Int = 80, rows: Int = 24, now: Int64 = 0, on screen: PlayScreen = screen
    ) -> [String] {
        screen.lines(play, size: PlayScreen.Size(columns: columns, rows: rows), atNanoseconds: now).map { line in
            line.split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated().map { index, part in
                index == 0 ? part : part.drop { $0 != "m" }.dropFirst()
            }.joined()
        }
    }

    private func newPlay(_ level: Level = .beginner) -> Play { Play(level, random: SeededGenerator(seed: 3)) }

    @Test(arguments: Level.allCases)
    func fitsIntoTheUsualTerminal(level: Level) {
        var play = newPlay(level)
        for key in [Key.open, .down, .character("f")] { _ = play.press(key, atNanoseconds: 0) }
        let lines = lines(play)
        #expect(lines.count == 24)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.filter { $0.contains("│") }.count == level.height)
        #expect(lines.last?.hasSuffix("q quit") == true)
        #expect(lines[0].hasPrefix(" Mission: Minesweeper  \(level.title)"))
        #expect(lines[0].hasSuffix("mira "))
    }

    @Test func saysWhatATerminalLacks() {
        let lines = lines(newPlay(.advanced), columns: 50, rows: 10)
        #expect(lines[0].hasPrefix("Advanced needs 63 columns and 22 rows"))
        #expect(lines.count == 10)
    }

    /// No size makes it fail, and no line is too long for any.
    @Test func drawsIntoAnySize() {
        var play = newPlay()
        for key in [Key.open, .up, .open, .left, .open, .right, .right, .open] { _ = play.press(key, atNanoseconds: 0) }
        for view in [Play.View.field, .achievements] {
            for columns in 1...90 {
                for rows in 1...30 {
                    let lines = lines(play, columns: columns, rows: rows)
                    #expect(lines.count == rows)
                    #expect(lines.allSatisfy { $0.count <= columns }, "\(view) \(columns)×\(rows)")
                }
            }
            _ = play.press(.character("a"), atNanoseconds: 0)
        }
    }

    @Test func marksTheCursorWithoutColours() {
        var play = newPlay()
        #expect(lines(play)[7].contains("│ ■ ■ ■ ■[■]■ ■ ■ ■ │"))
        _ = play.press(.end, atNanoseconds: 0)
        #expect(lines(play)[7].contains("│ ■ ■ ■ ■ ■ ■ ■ ■[■]│"))
        _ = play.press(.home, atNanoseconds: 0)
        #expect(lines(play)[7].contains("│[■]■ ■"))
    }

    @Test func drawsWithASCIIWhereThereIsNothingElse() {
        let plain = PlayScreen(theme: Theme(hasColor: false, hasUnicode: false), player: "mira")
        var play = newPlay()
        for key in [Key.open, .right, .character("f")] { _ = play.press(key, atNanoseconds: 0) }
        #expect(lines(play, on: plain).joined().utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func readsTheEnvironment() {
        func theme(_ variables: [String: String]) -> Theme { Theme { variables[$0] } }
        #expect(theme(["LANG": "de_DE.UTF-8"]).hasUnicode)
        #expect(theme(["LANG": "C.utf8"]).hasUnicode)
        #expect(!theme(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]).hasUnicode)
        #expect(!theme([:]).hasUnicode)
        #expect(theme([:]).hasColor)
        #expect(!theme(["NO_COLOR": "1"]).hasColor)
    }

    @Test func showsNewsUntilTheNextChange() {
        var play = newPlay()
        _ = play.press(.open, atNanoseconds: 0)
        // The clock goes on at the next full second.
        #expect(Self.screen.nextChange(play, afterNanoseconds: 300_000_000) == 1_000_000_000)
        _ = play.press(.character("r"), atNanoseconds: 0)
        #expect(Self.screen.nextChange(play, afterNanoseconds: 300_000_000) == nil)
        play.hear(
            .confirmed(key: "k", item: "speed", rank: 3, title: "Speed \u{1B}[31m", detail: "a\nb"), atNanoseconds: 0)
        #expect(Self.screen.nextChange(play, afterNanoseconds: 300_000_000) == PlayScreen.popupNanoseconds)
        let line = lines(play).first { $0.contains("Speed") } ?? ""
        #expect(line.hasPrefix(" ★ Speed  [31m"))
        #expect(line.contains("a b"))
        #expect(line.hasSuffix("confirmed, rank 3 ✓"))
    }
}
