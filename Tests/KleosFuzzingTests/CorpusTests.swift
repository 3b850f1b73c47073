import KleosFuzzing
import KleosSupport
import Testing

/// The fuzzer's inputs, without the fuzzer.
@Suite struct CorpusTests {
    /// One file of the corpus.
    struct Input: CustomTestStringConvertible, Sendable {
        var target: FuzzTarget
        var path: String
        var testDescription: String { path.split(separator: "/").suffix(2).joined(separator: "/") }
    }

    private static let folder: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/Fuzz/Corpus"
    }()

    private static func inputs() throws(SystemError) -> [Input] {
        var inputs: [Input] = []
        for target in FuzzTarget.allCases {
            let path = "\(folder)/\(target.rawValue)"
            inputs += try Folder.names(in: path).sorted().map { Input(target: target, path: "\(path)/\($0)") }
        }
        return inputs
    }

    @Test func everyTargetHasItsFolderAndItsWords() throws {
        #expect(try Folder.names(in: Self.folder).sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
        let words = Self.folder.replacing("/Corpus", with: "/Dictionaries")
        #expect(try Folder.names(in: words).sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
        for target in FuzzTarget.allCases {
            #expect(try Self.inputs().count { $0.target == target } >= 8, "\(target)")
        }
    }

    @Test(arguments: try inputs())
    func holds(input: Input) throws {
        try input.target.run(try SmallFile.read(at: input.path))
    }

    /// What an input begins with is an input, too: a connection or a disk may end anywhere.
    @Test(arguments: try inputs())
    func holdsWhereverItEnds(input: Input) throws {
        let bytes = try SmallFile.read(at: input.path)
        for end in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
            try input.target.run(Array(bytes[..<end]))
        }
    }

    /// And what it is with some bytes changed.
    @Test(arguments: try inputs())
    func holdsWithOtherBytes(input: Input) throws {
        let bytes = try SmallFile.read(at: input.path)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20 where !bytes.isEmpty {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try input.target.run(changed)
        }
    }
}
