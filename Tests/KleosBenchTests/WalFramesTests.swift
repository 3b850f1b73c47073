import Glibc
import KleosBench
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct WalFramesTests {
    private static let pageBytes = 1_024

    /// A frame as SQLite writes it; `size` is that of the database after a commit, 0 inside a transaction.
    private struct Frame {
        var size: UInt32
        var salts: UInt64
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private static func log(salts: UInt64, _ frames: [Frame]) -> [UInt8] {
        var log = bytes(UInt32(0x377F_0682)) + bytes(UInt32(3_007_000)) + bytes(UInt32(pageBytes)) + bytes(UInt32(0))
        log += bytes(salts) + bytes(UInt64(0))
        for (number, frame) in frames.enumerated() {
            log += bytes(UInt32(number + 1)) + bytes(frame.size) + bytes(frame.salts) + bytes(UInt64(0))
            log += [UInt8](repeating: 7, count: pageBytes)
        }
        return log
    }

    private static func count(_ log: [UInt8]) throws -> WalFrames {
        let folder = try TemporaryFolder(prefix: "wal")
        try SmallFile.replace(folder.path("log"), with: log)
        return try WalFrames(path: folder.path("log"))
    }

    @Test func framesOfCommitsAreCounted() throws {
        let frames = [Frame(size: 0, salts: 5), Frame(size: 9, salts: 5), Frame(size: 9, salts: 5)]
        let found = try Self.count(Self.log(salts: 5, frames))
        #expect(found.frames == 3)
        #expect(found.commits == 2)
        #expect(found.pageBytes == Self.pageBytes)
    }

    @Test func whatATransactionLeftWhenItWasRolledBackIsNotCounted() throws {
        let frames = [Frame(size: 9, salts: 5), Frame(size: 0, salts: 5), Frame(size: 0, salts: 5)]
        #expect(try Self.count(Self.log(salts: 5, frames)).frames == 1)
    }

    @Test func framesOfAnEarlierGenerationAreNotCounted() throws {
        let frames = [Frame(size: 9, salts: 6), Frame(size: 9, salts: 5), Frame(size: 9, salts: 6)]
        #expect(try Self.count(Self.log(salts: 6, frames)).frames == 1)
    }

    @Test func aFrameThatIsOnlyHalfWrittenEndsTheLog() throws {
        let log = Self.log(salts: 5, [Frame(size: 9, salts: 5), Frame(size: 9, salts: 5)])
        #expect(try Self.count(Array(log.dropLast(Self.pageBytes + 8))).frames == 1)
    }

    @Test func aLogThatIsAbsentEmptyOrSomethingElseHoldsNothing() throws {
        let folder = try TemporaryFolder(prefix: "wal")
        #expect(try WalFrames(path: folder.path("none")).frames == 0)
        #expect(try Self.count([]).salts == nil)
        #expect(try Self.count([UInt8](repeating: 1, count: 5_000)).salts == nil)
    }

    @Test func whatWasAddedIsUnknownWhereTheLogStartedAnew() throws {
        let one = try Self.count(Self.log(salts: 5, [Frame(size: 9, salts: 5)]))
        let two = try Self.count(Self.log(salts: 5, [Frame(size: 9, salts: 5), Frame(size: 9, salts: 5)]))
        let anew = try Self.count(Self.log(salts: 6, [Frame(size: 9, salts: 6)]))
        #expect(two.added(since: one) == 1)
        #expect(anew.added(since: two) == nil)
        #expect(one.added(since: try Self.count([])) == 1)
    }
}
