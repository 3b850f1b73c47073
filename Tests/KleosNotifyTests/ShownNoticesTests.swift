import Glibc
import KleosModel
import KleosNotify
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct ShownNoticesTests {
    private static let keys = (0..<3).map { number -> EventKey in
        var random = SeededGenerator(seed: UInt64(number))
        return EventKey.version7(wallMilliseconds: 1_000_000 + Int64(number), random: &random)
    }

    @Test func outliveTheAgentUntilTheyAreAcknowledged() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("state/shown")
        let first = ShownNotices(path: path, log: Log())
        for key in Self.keys.prefix(2) { first.insert(key) }
        let second = ShownNotices(path: path, log: Log())
        #expect(Self.keys.map(second.contains) == [true, true, false])
        second.remove([Self.keys[0]])
        second.insert(Self.keys[2])
        // What was acknowledged may come back after a crash, and does no harm; nothing else gets lost.
        let third = ShownNotices(path: path, log: Log())
        #expect(Self.keys[1...].map(third.contains) == [true, true])
        third.remove(Self.keys)
        #expect(try SmallFile.read(at: path).isEmpty)
        let last = ShownNotices(path: path, log: Log())
        #expect(Self.keys.map(last.contains) == [false, false, false])
    }

    @Test func forgetTheOldestOfTooMany() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("shown")
        let text = (0..<1_200).map { number -> String in
            var random = SeededGenerator(seed: UInt64(number))
            return EventKey.version7(wallMilliseconds: Int64(number), random: &random).description
        }
        try SmallFile.replace(path, with: Array((text + [""]).joined(separator: "\n").utf8))
        let shown = ShownNotices(path: path, log: Log())
        #expect(text.compactMap(EventKey.init).count { shown.contains($0) } == 1_000)
        #expect(EventKey(text[1_199]).map(shown.contains) == true)
    }

    @Test func doNotGrowForEverWhereNothingIsAcknowledged() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("shown")
        let keys = (0..<2_600).map { number -> EventKey in
            var random = SeededGenerator(seed: UInt64(number))
            return EventKey.version7(wallMilliseconds: 1_000_000 + Int64(number), random: &random)
        }
        let shown = ShownNotices(path: path, log: Log())
        for key in keys { shown.insert(key) }
        #expect(try SmallFile.readText(at: path).split(separator: "\n").count <= 2_000)
        let next = ShownNotices(path: path, log: Log())
        for known in [shown, next] {
            #expect(!known.contains(keys[0]))
            #expect(keys.suffix(1_000).allSatisfy(known.contains))
        }
    }

    @Test func remainInMemoryWhereThereIsNoFile() throws {
        let folder = try TemporaryFolder()
        // A folder stands in the file's place.
        try Folder.make(folder.path("shown"))
        let shown = ShownNotices(path: folder.path("shown"), log: Log())
        shown.insert(Self.keys[0])
        #expect(shown.contains(Self.keys[0]))
    }
}
