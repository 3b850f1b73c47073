import KleosSupport
import KleosWire
import Testing

/// Lines come out the same, however the stream is cut.
@Suite struct LineFramerTests {
    @Test(
        arguments: [
            ("", []),
            ("a\n", ["a"]),
            ("a\r\nb\n", ["a", "b"]),
            ("\n\r\n", ["", ""]),
            ("a\rb\n", ["a\rb"]),
            ("a\r\r\n", ["a\r"]),
            ("12345678\n", ["12345678"]),
            ("12345678\r\n", ["12345678"]),
            ("123456789\nb\n", [nil, "b"]),
            ("123456789\r\nb\n", [nil, "b"]),
            ("12345678901234567890\nb\n12345678901\nc\n", [nil, "b", nil, "c"]),
            ("é🏆\nb\nhalf", ["é🏆", "b"]),
            ("12345678901234567890", [nil]),
        ] as [(String, [String?])])
    func splitsAlikeAtEveryCut(text: String, lines: [String?]) {
        let bytes = Array(text.utf8)
        let expected = lines.map { $0.map { LineFramer.Frame.line(Array($0.utf8)) } ?? .tooLong }
        for cut in 0...bytes.count {
            #expect(Self.frames([Array(bytes[..<cut]), Array(bytes[cut...])]) == expected, "cut at \(cut)")
        }
        #expect(Self.frames(bytes.map { [$0] }) == expected, "byte by byte")
    }

    @Test(arguments: UInt64(0)..<50)
    func splitsRandomStreamsLikeASplitOfTheWhole(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for _ in 0..<400 { bytes.append(Array("ab\n\nc\r".utf8).randomElement(using: &random) ?? 0) }
        bytes.append(UInt8(ascii: "\n"))
        var expected = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return content.count > 8 ? LineFramer.Frame.tooLong : .line(Array(content))
        }
        expected.removeLast()
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...30, using: &random)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(Self.frames(pieces) == expected)
    }

    @Test func tellsWhetherTheStreamStoppedInsideALine() {
        var framer = LineFramer(maximumBytes: 8)
        #expect(!framer.hasPartialLine)
        framer.append(Array("ab".utf8))
        #expect(framer.next() == nil)
        #expect(framer.hasPartialLine)
        framer.append(Array("\n".utf8))
        #expect(framer.next() == .line(Array("ab".utf8)))
        #expect(!framer.hasPartialLine)
        framer.append(Array("0123456789".utf8))
        #expect(framer.next() == .tooLong)
        #expect(framer.next() == nil)
        #expect(framer.hasPartialLine)
    }

    @Test func reportsALineOfTenMegabytesOnceAndGoesOn() {
        var framer = LineFramer(maximumBytes: 65_536)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
        var frames: [LineFramer.Frame] = []
        for _ in 0..<160 {
            framer.append(piece)
            while let frame = framer.next() { frames.append(frame) }
        }
        framer.append(Array("\nok\n".utf8))
        while let frame = framer.next() { frames.append(frame) }
        #expect(frames == [.tooLong, .line(Array("ok".utf8))])
    }

    private static func frames(_ pieces: [[UInt8]]) -> [LineFramer.Frame] {
        var framer = LineFramer(maximumBytes: 8)
        var frames: [LineFramer.Frame] = []
        for piece in pieces {
            framer.append(piece)
            while let frame = framer.next() { frames.append(frame) }
        }
        return frames
    }
}
