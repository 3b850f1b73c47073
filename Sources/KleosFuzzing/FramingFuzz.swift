import KleosSupport
import KleosWire

/// The first byte sets the limit of a line, the second the cuts; the rest is the stream.
enum FramingFuzz {
    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard bytes.count >= 2 else { return }
        let limit = Int(bytes[0]) + 1
        let stream = bytes.dropFirst(2)
        let expected = frames(stream, limit: limit)
        let partial = stream.split(separator: 0x0A, omittingEmptySubsequences: false).last ?? []
        for cut in [Cut.none, .bytes, .random(seed: UInt64(bytes[1]))] {
            var framer = LineFramer(maximumBytes: limit)
            let found = feed(stream, to: &framer, cut)
            try require(found == expected, "cut \(cut), the lines are \(found) in place of \(expected)")
            try require(
                framer.hasPartialLine == !partial.isEmpty, "cut \(cut), hasPartialLine is \(framer.hasPartialLine)")
            try require(framer.next() == nil, "cut \(cut), a frame comes after the last")
        }
    }

    private enum Cut {
        case none
        case bytes
        case random(seed: UInt64)
    }

    /// What the framer makes of the stream; between two pieces its frames are taken whole, in part or not at all.
    private static func feed(_ stream: ArraySlice<UInt8>, to framer: inout LineFramer, _ cut: Cut) -> [LineFramer.Frame]
    {
        var found: [LineFramer.Frame] = []
        var rest = stream
        var random = SeededGenerator(seed: 0)
        if case .random(let seed) = cut { random = SeededGenerator(seed: seed) }
        while !rest.isEmpty {
            let count: Int
            var taken = Int.max
            switch cut {
            case .none: count = rest.count
            case .bytes: count = 1
            case .random:
                count = Int.random(in: 1...rest.count, using: &random)
                taken = Int.random(in: 0...3, using: &random)
            }
            framer.append(rest.prefix(count))
            rest = rest.dropFirst(count)
            while taken > 0, let frame = framer.next() {
                found.append(frame)
                taken -= 1
            }
        }
        while let frame = framer.next() { found.append(frame) }
        return found
    }

    /// The frames of a whole stream, by the definition.
    private static func frames(_ stream: ArraySlice<UInt8>, limit: Int) -> [LineFramer.Frame] {
        var lines = stream.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard let partial = lines.popLast() else { return [] }
        var frames = lines.map { line -> LineFramer.Frame in
            let content = line.last == 0x0D ? line.dropLast() : line
            return content.count > limit ? .tooLong : .line(Array(content))
        }
        // A line that is not over yet is too long as soon as no carriage return can make it fit.
        if partial.count > limit + 1 { frames.append(.tooLong) }
        return frames
    }
}
