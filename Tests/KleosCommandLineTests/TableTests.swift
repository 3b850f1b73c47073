import KleosCommandLine
import KleosModel
import Testing

@Suite("Tables")
struct TableTests {
    @Test func columnsLineUpAndLinesEndWithoutSpaces() {
        var table = Table(["NAME", ">COUNT", "WHY"])
        table.add([Table.Cell("a"), Table.Cell("7"), Table.Cell("because")])
        table.add([Table.Cell("日本"), Table.Cell("12345"), Table.Cell("")])
        #expect(
            table.lines(palette: Palette(isColored: false)) == [
                "NAME  COUNT  WHY",
                "a         7  because",
                "日本  12345",
            ])
    }

    @Test func coloursDoNotMoveColumns() {
        var table = Table(["STATE", "X"])
        table.add([Table.Cell("dead", .bad), Table.Cell("y")])
        let lines = table.lines(palette: Palette(isColored: true))
        #expect(lines == ["\u{1B}[1mSTATE\u{1B}[0m  \u{1B}[1mX\u{1B}[0m", "\u{1B}[31mdead\u{1B}[0m   y"])
    }

    @Test func textFromElsewhereCannotSteerTheTerminal() {
        #expect(Printable.text("a\u{1B}[31mb\nc\u{202E}") == "a\\u{1b}[31mb\\u{a}c\\u{202e}")
        #expect(Printable.text("ä 日本 🎮") == "ä 日本 🎮")
    }

    @Test(
        arguments: [
            ([:], "0 deliveries"), ([DeliveryState.dead: 1], "1 delivery: 1 dead"),
            ([.ready: 2, .waiting: 10], "12 deliveries: 10 waiting, 2 ready"),
        ])
    func summariesCount(counts: [DeliveryState: Int], expected: String) {
        #expect(DeliveryWords.summary(counts) == expected)
    }

    @Test(arguments: [(0, "0 B"), (1_023, "1023 B"), (1_024, "1 KiB"), (1_536, "1.5 KiB"), (512 << 20, "512 MiB")])
    func sizes(bytes: Int64, expected: String) {
        #expect(ByteText.text(bytes) == expected)
    }
}
