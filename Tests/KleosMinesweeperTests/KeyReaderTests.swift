import KleosMinesweeper
import Testing

@Suite struct KeyReaderTests {
    private func keys(_ chunks: String...) -> [Key] {
        var reader = KeyReader()
        return chunks.flatMap { reader.read(Array($0.utf8)) }
    }

    @Test func knowsTheKeysInBothModesOfATerminal() {
        #expect(keys("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D") == [.up, .down, .right, .left])
        #expect(keys("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD") == [.up, .down, .right, .left])
        #expect(keys("hjkl") == [.left, .down, .up, .right])
        #expect(keys(" \r\n") == [.open, .open, .open])
        #expect(keys("f1q") == [.character("f"), .character("1"), .character("q")])
        #expect(keys("\u{3}\u{1A}\u{C}") == [.interrupt, .suspend, .refresh])
        #expect(keys("\u{1B}[H\u{1B}[4~") == [.home, .end])
    }

    @Test func hearsOfTheFocus() {
        #expect(keys("\u{1B}[I\u{1B}[O") == [.focus(true), .focus(false)])
    }

    @Test func putsASequenceTogetherThatComesInPieces() {
        #expect(keys("\u{1B}[", "A", "x") == [.up, .character("x")])
    }

    @Test func takesAnEscapeAloneForTheKey() {
        #expect(keys("\u{1B}") == [.escape])
        #expect(keys("\u{1B}f") == [.escape, .character("f")])
    }

    @Test func ignoresWhatItDoesNotKnow() {
        #expect(keys("\u{1B}[1;5C\u{1B}[200~ä\u{7F}f") == [.character("f")])
        #expect(keys("\u{1B}[" + String(repeating: "1", count: 100), "f") == [.character("f")])
    }
}
