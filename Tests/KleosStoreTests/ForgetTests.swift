import Dispatch
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

@Suite("Erasing a player")
struct ForgetTests {
    let store: TemporaryStore
    let maker: EventMaker

    init() throws {
        store = try TemporaryStore()
        maker = EventMaker(store.clock)
    }

    /// Passes over the events until nothing of the target is left but what is in flight; returns how many are gone.
    private func forget(_ target: ForgetTarget) throws -> (erased: Int, inFlight: Bool) {
        var (after, erased, inFlight): (Int64, Int, Bool) = (0, 0, false)
        let now = store.now
        while true {
            let from = after
            let step = try store.run { (outbox) throws(StoreError) in
                try outbox.forgetEvents(target, after: from, now: now)
            }
            erased += step.erased
            inFlight = inFlight || step.inFlight != nil
            after = step.done
            if step.done >= step.total { return (erased, inFlight) }
        }
    }

    private func target(_ player: String, game: String? = nil) -> ForgetTarget {
        ForgetTarget(player: player, game: game, recordedUntilMilliseconds: store.now.wallMilliseconds)
    }

    private func rest(_ target: ForgetTarget) throws -> ForgetReport {
        let now = store.now
        return try store.run { (outbox) throws(StoreError) in try outbox.forgetRest(target, now: now) }
    }

    private func contradictions() throws -> [String]? {
        try store.store.withOutbox { outbox in try outbox.contradictions() }
    }

    @Test("Everything of the player goes, whatever its state, and nothing of others")
    func erases() throws {
        let facts = NoticeFacts(kind: .score, item: "b", value: ScoreValue(units: 1))
        for index in 0..<250 {
            try store.accept(maker.score(Int64(index), board: "b\(index % 7)", player: "ada"))
            try store.accept(maker.score(Int64(index), board: "b\(index % 7)", player: "bob"))
        }
        for claim in try store.claim(4) { try store.settle(claim, .delivered(Confirmation(), notice: .news(facts))) }
        for claim in try store.claim(2) { try store.settle(claim, .dead(.rejected, message: "no")) }
        let others = try store.all(DeliveryFilter(player: "bob"))
        #expect(try forget(target("ada")).erased == 250)
        let report = try rest(target("ada"))
        #expect(report.standings == 7)
        #expect(try store.all(DeliveryFilter(player: "ada")).isEmpty)
        #expect(try store.all(DeliveryFilter(player: "bob")).map(\.key) == others.map(\.key))
        #expect(try contradictions() == [])
        let standings = try store.run { (outbox) throws(StoreError) in try outbox.standings(StandingQuery()).standings }
        #expect(standings.allSatisfy { $0.stream.player == "bob" })
        let notices = try store.run { (outbox) throws(StoreError) in try outbox.notices(NoticeQuery()).notices }
        #expect(notices.allSatisfy { $0.player == "bob" })
        let counters = try store.run { (outbox) throws(StoreError) in try outbox.status() }
        #expect(counters.forgottenEvents == 250)
    }

    @Test("Of one game only, where one is named")
    func ofOneGame() throws {
        let subject = Subject.score(leaderboard: "b", value: ScoreValue(units: 1))
        let (here, there) = (maker.event(subject, game: "g"), maker.event(subject, game: "h"))
        try store.accept(here)
        try store.accept(there)
        #expect(try forget(target("p", game: "h")).erased == 1)
        #expect(try rest(target("p", game: "h")).standings == 1)
        #expect(try store.state(here) == .ready)
        #expect(try store.state(there) == nil)
    }

    @Test("What is in flight goes when it settles, and is not sent again")
    func inFlight() throws {
        let event = maker.score(1)
        try store.accept(event)
        let claim = try #require(try store.claim().first)
        let first = try forget(target("p"))
        #expect(first.erased == 0 && first.inFlight)
        try store.settle(claim, .retry(dueMilliseconds: 0, isServerError: false))
        #expect(try store.state(event) == .discarded)
        #expect(try forget(target("p")).erased == 1)
        #expect(try store.claim().isEmpty)
        #expect(try contradictions() == [])
    }

    @Test("An event that a clock ahead recorded stays whole, however many of others come after it")
    func ahead() throws {
        let target = target("p")
        store.clock.advance(milliseconds: 60_000)
        let late = maker.score(1)
        try store.accept(late, way(merge: .none))
        for number in 0..<500 { try store.accept(maker.score(Int64(number), player: "other"), way(merge: .none)) }
        #expect(try forget(target).erased == 0)
        _ = try rest(target)
        #expect(try store.state(late) == .ready)
        #expect(try contradictions() == [])
        #expect(try store.claim(1).first?.event == late)
    }

    @Test("An event that comes meanwhile stays, and its stream goes on")
    func meanwhile() throws {
        try store.accept(maker.score(1), way(merge: .none, isStrict: true))
        let target = target("p")
        store.clock.advance(milliseconds: 1)
        let late = maker.score(2)
        try store.accept(late, way(merge: .none, isStrict: true))
        #expect(try store.state(late) == .waiting)
        #expect(try forget(target).erased == 1)
        // The daemon may end here, and nobody would bring it forward.
        #expect(try store.state(late) == .ready)
        #expect(try contradictions() == [])
        _ = try rest(target)
        #expect(try store.state(late) == .ready)
        #expect(try contradictions() == [])
    }

    @Test("An event that comes meanwhile and gave way to an erased one comes back", arguments: [false, true])
    func gaveWay(isInFlight: Bool) throws {
        let better = maker.score(9)
        try store.accept(better)
        let target = target("p")
        store.clock.advance(milliseconds: 1)
        let late = maker.score(5)
        #expect(try store.accept(late) == .superseded(late.key))
        if isInFlight {
            let claim = try #require(try store.claim().first)
            #expect(try forget(target).inFlight)
            try store.settle(claim, .dead(.rejected, message: "no"), .permanent)
        }
        #expect(try forget(target).erased == 1)
        _ = try rest(target)
        #expect(try store.state(late) == .ready)
        #expect(try contradictions() == [])
    }

    @Test("Erased again after the daemon ended half-way, everything is gone")
    func halfWay() throws {
        for index in 0..<150 { try store.accept(maker.score(Int64(index), board: "b\(index % 5)"), way(merge: .none)) }
        let (target, now) = (target("p"), store.now)
        let first = try store.run { (outbox) throws(StoreError) in
            try outbox.forgetEvents(target, after: 0, now: now)
        }
        #expect(first.erased == 100 && first.done < first.total)
        let again = try TemporaryStore(folder: try store.snapshot(), clock: store.clock)
        #expect(try again.store.withOutbox { outbox in try outbox.contradictions() } == [])
        var after: Int64 = 0
        while true {
            let from = after
            let step = try again.run { (outbox) throws(StoreError) in
                try outbox.forgetEvents(target, after: from, now: now)
            }
            after = step.done
            if step.done >= step.total { break }
        }
        let report = try again.run { (outbox) throws(StoreError) in try outbox.forgetRest(target, now: now) }
        #expect(report.standings == 5)
        #expect(try again.all().isEmpty)
        let counters = try again.run { (outbox) throws(StoreError) in try outbox.status() }
        #expect(counters.forgottenEvents == 150)
    }

    @Test("No byte of the player is left in the files")
    func files() throws {
        let name = "a player whose name is nowhere else"
        for index in 0..<2_000 {
            let player = index % 3 == 0 ? name : "p\(index % 50)"
            try store.accept(
                maker.score(Int64(index), board: "b\(index)", player: player, clientID: "\(player) \(index)"))
        }
        func isFound() throws -> Bool {
            try ["outbox.db", "outbox.db-wal"].contains { file in
                let path = store.folder.path(file)
                guard SetAside.exists(path) else { return false }
                return try SmallFile.read(at: path, limitBytes: 64 << 20).contains(Array(name.utf8))
            }
        }
        #expect(try isFound())
        _ = try forget(target(name))
        _ = try rest(target(name))
        let done = DispatchSemaphore(value: 0)
        store.store.purge { result in
            #expect(result == .success(true))
            done.signal()
        }
        done.wait()
        #expect(try !isFound())
        #expect(try contradictions() == [])
        #expect(try store.all().count == 1_333)
    }
}
