import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

/// An outbox of the first schema opens with the present one, whatever steps lie between, and everything is found.
///
/// `Fixtures/outbox-100.sql` has rows in every table, a delivery in every state; it never changes.
@Suite struct FirstSchemaTests {
    private let store: TemporaryStore

    init() throws {
        let folder = try TemporaryFolder()
        let fixture = #filePath.replacing("FirstSchemaTests.swift", with: "Fixtures/outbox-100.sql")
        let first = try Connection(path: folder.path("outbox.db"))
        try first.execute(try SmallFile.readText(at: fixture))
        store = try TemporaryStore(folder: folder, log: Log(sink: { _, _ in }))
    }

    private func key(_ number: Int) throws -> EventKey {
        let digits = String(number, radix: 16)
        return try #require(EventKey("01890a5d-000\(digits)-7000-8000-00000000000\(digits)"))
    }

    @Test func itHasThePresentVersion() throws {
        let version = try store.run { (outbox) throws(StoreError) in
            try outbox.database.checkWhole()
            return try outbox.database.integer(.once("PRAGMA user_version"))
        }
        #expect(version == Int64(Schema.version))
    }

    @Test func everyDeliveryHasItsState() throws {
        let records = try store.all().sorted { $0.id < $1.id }
        #expect(
            records.map(\.state) == [.waiting, .ready, .sending, .delivered, .superseded, .dead, .held, .discarded])
        #expect(try records.map(\.key) == (1...8).map(key))
        #expect(records[3].confirmation == Confirmation(rank: 2, best: "1004", changed: true, unlocked: false))
        #expect(try records[4].supersededBy == key(4))
        #expect(records[5].reason == .rejected)
        #expect(records[5].message == "refused for good")
        #expect(records[6].reason == .operatorHold)
        let counters = try store.run { (outbox) throws(StoreError) in try outbox.status() }
        #expect(counters.endpoints.first?.counts.values.reduce(0, +) == 8)
        #expect(counters.pendingNotices == 1)
    }

    @Test func everyEventIsAsItWas() throws {
        for number in 1...8 {
            let key = try key(number)
            let record = try store.run { (outbox) throws(StoreError) in try outbox.show(key: key, visibleTo: nil) }
            let event = try #require(record?.event)
            #expect(event.clientID == "id-\(number)")
            #expect(event.submitter.uid == 1000)
            #expect(event.submitter.executable == "/usr/games/g")
            #expect(event.recorded.wallMilliseconds == 1_764_460_800_000 + Int64(number))
            #expect(event.occurredAtMilliseconds == (number == 1 ? 1_764_460_795_000 : nil))
            #expect(event.metadata == (number == 1 ? Array("{}".utf8) : nil))
            #expect(record?.deliveries.first?.attempts.count == ([4, 6].contains(number) ? 1 : 0))
        }
    }

    @Test func standingsNoticesAndPausesAreThere() throws {
        let standings = try store.run { (outbox) throws(StoreError) in
            try outbox.standings(StandingQuery(game: "g")).standings
        }
        #expect(standings.map(\.stream.item) == ["b1", "a4"])
        #expect(standings.last?.confirmed?.rank == 2)
        let notices = try store.run { (outbox) throws(StoreError) in try outbox.notices(NoticeQuery()).notices }
        #expect(try notices.map(\.key) == [key(4)])
        #expect(
            try store.run { (outbox) throws(StoreError) in try outbox.endpointRecord("home") }.pausedReason
                == "maintenance")
    }

    @Test func itGoesOnWorking() throws {
        let now = store.now
        let report = try store.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: [], now: now)
        }
        #expect(report.returned == 1)
        let event = EventMaker(store.clock).score(5, board: "b1", clientID: "new")
        #expect(try store.accept(event) == .accepted(event.key))
        let claims = try store.claim(10)
        #expect(claims.count >= 2)
        #expect(claims.contains { $0.rendering == Array("POST".utf8) && $0.mayHaveTakenEffect })
    }
}
