import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// The reader of damaged outboxes finds what is there, and never more than that, whatever the bytes say.
@Suite struct SalvageScanTests {
    /// The files of an outbox with events in many states, closed or as a kill leaves them.
    private func outbox(isClosed: Bool) throws -> TemporaryFolder {
        let store = try TemporaryStore(log: Log(sink: { _, _ in }))
        let maker = EventMaker(store.clock)
        for number in 0..<400 {
            let metadata = Array("{\"note\":\"\(String(repeating: "x", count: number * 10))\"}".utf8)
            let subject = Subject.score(leaderboard: "b\(number % 50)", value: ScoreValue(units: Int64(number)))
            try store.accept(maker.event(subject, clientID: "id-\(number)", metadata: metadata), way(), way("second"))
        }
        for claim in try store.claim(20) {
            try store.settle(claim, .delivered(Confirmation(rank: 1), notice: nil), .delivered)
        }
        _ = try store.claim(5)
        let copy = try TemporaryFolder()
        if isClosed { store.close() }
        for name in try Folder.names(in: store.folder.path) {
            try SmallFile.replace(
                copy.path(name), with: SmallFile.read(at: store.folder.path(name), limitBytes: 64 << 20))
        }
        return copy
    }

    @Test(arguments: [true, false])
    func aWholeOutboxIsReadWhole(isClosed: Bool) throws {
        let folder = try outbox(isClosed: isClosed)
        let scan = SalvageScan(try PageFile(path: folder.path("outbox.db"))) { _, _ in }
        let reader = SalvageReader(scan)
        let events = reader.events.compactMap(reader.event)
        #expect(scan.unreadablePages == 0)
        #expect(scan.unreadableRows == 0)
        #expect(reader.lostEvents == 0)
        #expect(events.count == 400)
        #expect(events.allSatisfy { $0.deliveries.map(\.endpoint) == ["home", "second"] })
        #expect(events.map(\.event.clientID) == (0..<400).map { "id-\($0)" })
        #expect(events.last?.event.metadata?.count == 4_001)
        #expect(events.flatMap(\.deliveries).count { $0.state == .delivered } == 20)
        #expect(events.flatMap(\.deliveries).count { $0.state == .sending } == 5)
    }

    @Test func randomDamageNeverStopsTheReader() throws {
        let folder = try outbox(isClosed: true)
        let whole = try SmallFile.read(at: folder.path("outbox.db"), limitBytes: 64 << 20)
        let count = TestStage.size("SALVAGES", usual: 6, long: 200)
        var found = 0
        for seed in 0..<count {
            var random = SeededGenerator(seed: UInt64(seed))
            var bytes = whole
            for _ in 0..<Int.random(in: 1...200, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let length = min(Bool.random(using: &random) ? 1 : 512, bytes.count - place)
                for index in place..<place + length { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            }
            if seed % 3 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &random)) }
            found += try bring(bytes)
        }
        TestStage.report("salvages", "\(count) damaged outboxes, \(found) of \(400 * count) events found")
        #expect(found > 100 * count)
    }

    /// Brings what is readable into an outbox and returns how many events that were.
    private func bring(_ bytes: [UInt8]) throws -> Int {
        let store = try TemporaryStore(log: Log(sink: { _, _ in }))
        try SmallFile.replace(store.folder.path("outbox.db.damaged-x"), with: bytes)
        let scan = SalvageScan(try PageFile(path: store.folder.path("outbox.db.damaged-x"))) { _, _ in }
        let reader = SalvageReader(scan)
        let events = reader.events.compactMap(reader.event)
        let (standings, notices, now) = (reader.standings(), reader.notices(), store.now)
        try store.run { (outbox) throws(StoreError) in
            for standing in standings { try outbox.bring(standing) }
            for event in events {
                _ = try outbox.bring(
                    event, policy: SalvagePolicy(games: [:], endpoints: [:]), isDamaged: true, now: now)
            }
            for notice in notices { try outbox.bring(notice) }
            try outbox.database.checkWhole()
        }
        return events.count
    }
}
