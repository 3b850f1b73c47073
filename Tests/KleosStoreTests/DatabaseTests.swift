import Dispatch
import Glibc
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosStore

@Suite struct DatabaseTests {
    static let options = StoreOptions(freeFloorBytes: 0, reserveBytes: 0, machineID: "machine-1")

    func failure(_ folder: TemporaryFolder) -> StoreError.Kind? {
        do {
            try TemporaryStore(folder: folder, log: Log(sink: { _, _ in })).close()
            return nil
        } catch {
            return (error as? StoreError)?.kind
        }
    }

    /// Changes four bytes of the database's header.
    func patch(_ path: String, at offset: Int, _ value: UInt32) throws {
        var bytes = try SmallFile.read(at: path)
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index)) }
        try SmallFile.replace(path, with: bytes)
    }

    @Test func aNewerSchemaIsRefusedAndLeftUntouched() throws {
        let folder = try TemporaryFolder()
        try TemporaryStore(folder: folder).close()
        try patch(folder.path("outbox.db"), at: 60, 199)
        let before = try SmallFile.read(at: folder.path("outbox.db"))
        let names = try Folder.names(in: folder.path)
        #expect(failure(folder) == .newerSchema)
        #expect(try SmallFile.read(at: folder.path("outbox.db")) == before)
        #expect(try Folder.names(in: folder.path) == names)
    }

    @Test func anotherProgramsDatabaseIsRefusedAndLeftUntouched() throws {
        let folder = try TemporaryFolder()
        try TemporaryStore(folder: folder).close()
        try patch(folder.path("outbox.db"), at: 68, 7)
        let before = try SmallFile.read(at: folder.path("outbox.db"))
        #expect(failure(folder) == .foreign)
        #expect(try SmallFile.read(at: folder.path("outbox.db")) == before)
    }

    @Test func whatIsNoDatabaseIsSetAsideWhole() throws {
        let folder = try TemporaryFolder()
        let junk = Array(repeating: UInt8(ascii: "x"), count: 5_000)
        try SmallFile.replace(folder.path("outbox.db"), with: junk)
        let store = try TemporaryStore(folder: folder, log: Log(sink: { _, _ in }))
        let event = EventMaker(store.clock).score(1)
        #expect(try store.accept(event) == .accepted(event.key))
        let names = try Folder.names(in: folder.path)
        let aside = try #require(names.first { $0.hasPrefix("outbox.db.damaged-") })
        #expect(try SmallFile.read(at: folder.path(aside)) == junk)
    }

    @Test func whatWasSetAsideIsNeverOverwritten() throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let junk = (UInt8(1)...3).map { [UInt8](repeating: $0, count: 5_000) }
        for bytes in junk {
            try SmallFile.replace(folder.path("outbox.db"), with: bytes)
            try TemporaryStore(folder: folder, clock: clock, log: Log(sink: { _, _ in })).close()
        }
        let names = try Salvage.names(in: folder.path)
        #expect(Set(try names.map { try SmallFile.read(at: folder.path($0)) }) == Set(junk))
    }

    @Test func aValueThatNothingCanBeMadeOfIsDamage() throws {
        let store = try TemporaryStore(log: Log(sink: { _, _ in }))
        try store.accept(EventMaker(store.clock).score(1))
        try store.store.withOutbox { outbox throws(StoreError) in
            try outbox.database.execute("PRAGMA ignore_check_constraints = ON")
            try outbox.database.execute("UPDATE events SET decimals = 77")
        }
        let failed = DispatchSemaphore(value: 0)
        store.store.setFailureHandler { error in
            #expect(error.kind == .damaged)
            failed.signal()
        }
        let now = store.clock.nowMilliseconds
        store.store.perform { (outbox) throws(StoreError) in
            try outbox.claim(endpoint: "home", limit: 1, nowMilliseconds: now).count
        } then: { result in
            Issue.record("answered: \(result)")
        }
        try #require(failed.wait(timeout: Patience.end) == .success)
        store.close()
        let again = try TemporaryStore(folder: store.folder, clock: store.clock, log: Log(sink: { _, _ in }))
        #expect(try again.all().isEmpty)
        #expect(try Salvage.names(in: store.folder.path).count == 1)
    }

    @Test func aSecondOwnerIsRefused() throws {
        let store = try TemporaryStore()
        #expect(failure(store.folder) == .locked)
    }

    @Test func aMissingFolderIsRefused() {
        #expect(throws: StoreError.self) {
            _ = try Store.open(
                directory: "/nonexistent/kleos", options: Self.options, clock: ManualClock(), log: Log())
        }
    }

    @Test(arguments: [
        (UInt32(0x6969), FileSystemKind.network("NFS")), (0xFF53_4D42, .network("CIFS")), (0x517B, .network("SMB")),
        (0xFE53_4D42, .network("SMB2")), (0x0102_1997, .network("9P")), (0x00C3_6400, .network("Ceph")),
        (0x5346_414F, .network("AFS")), (0x6573_5546, .userSpace), (0xEF53, .local), (0x0102_1994, .local),
    ])
    func networkFileSystemsAreTold(magic: UInt32, kind: FileSystemKind) {
        #expect(FileSystemKind(magic: magic) == kind)
    }

    @Test func theReserveIsMadeAndGivenUp() throws {
        let options = StoreOptions(freeFloorBytes: 0, reserveBytes: 65_536, machineID: "m")
        let store = try TemporaryStore(options: options)
        try store.accept(EventMaker(store.clock).score(1))
        store.close()
        var information = stat()
        #expect(stat(store.folder.path("outbox.reserve"), &information) == 0)
        #expect(information.st_blocks * 512 >= 65_536)
    }
}

@Suite struct RecoveryTests {
    @Test func whatWasAcknowledgedIsThereAfterAKill() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let events = (0..<50).map { maker.score($0, board: "b\($0)") }
        for event in events { try store.accept(event) }
        let claims = try store.claim(3)
        let again = try TemporaryStore(folder: try store.snapshot(), clock: store.clock)
        #expect(try again.all().count == 50)
        let now = again.now
        let report = try again.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: [], now: now)
        }
        #expect(report.returned == claims.count)
        let claim = try #require(try again.claim(50).first { $0.id == claims[0].id })
        #expect(claim.mayHaveTakenEffect)
        #expect(claim.attemptsMade == 1)
    }

    @Test func whereASecondSendCountsTwiceWhatWasInFlightIsAmbiguous() throws {
        let store = try TemporaryStore()
        let event = EventMaker(store.clock).score(1)
        try store.accept(event, way(merge: .none))
        _ = try store.claim()
        let now = store.now
        let report = try store.run { (outbox) throws(StoreError) in
            try outbox.recover(atMostOnceEndpoints: ["home"], now: now)
        }
        #expect(report.ambiguous == 1)
        #expect(try store.all().first?.reason == .ambiguous)
    }

    @Test func onAnotherMachineEverythingIsHeldUntilAdopted() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let event = maker.score(1)
        try store.accept(event)
        let other = StoreOptions(freeFloorBytes: 0, reserveBytes: 0, machineID: "machine-2")
        let clone = try TemporaryStore(
            folder: try store.snapshot(), clock: store.clock, options: other, log: Log(sink: { _, _ in }))
        #expect(try clone.all().map(\.reason) == [.clone])
        #expect(try clone.claim().isEmpty)
        let own = maker.score(2, board: "own")
        try clone.accept(own)
        #expect(try clone.state(own) == .ready)
        let now = clone.now
        #expect(
            try clone.run { (outbox) throws(StoreError) in try outbox.adopt(now: now) }
                == CloneStep(changed: 1, hasMore: false))
        #expect(try clone.state(event) == .ready)
    }

    @Test func whatLeavesTheConfigurationIsHeldAndComesBack() throws {
        let store = try TemporaryStore()
        let event = EventMaker(store.clock).score(1)
        try store.accept(event)
        let now = store.now
        let steps: [(endpoints: Set<String>, state: DeliveryState)] = [(Set(), .held), (Set(["home"]), .ready)]
        for (endpoints, state) in steps {
            let more = try store.run { (outbox) throws(StoreError) in
                try outbox.reconcile(games: ["g"], endpoints: endpoints, now: now)
            }
            #expect(!more)
            #expect(try store.state(event) == state)
        }
    }

    @Test func whatAnOperatorSendsAgainDoesNotExpire() throws {
        let store = try TemporaryStore()
        let event = EventMaker(store.clock).score(1)
        try store.accept(event)
        let claim = try #require(try store.claim().first)
        try store.settle(claim, .dead(.rejected, message: "no"))
        store.clock.advance(milliseconds: 100_000)
        let now = store.now
        let report = try store.run { (outbox) throws(StoreError) in
            _ = try outbox.retry(.keys([event.key]), now: now)
            return try outbox.expire(endpoint: "home", maximumAgeMilliseconds: 50_000, limit: 10, now: now)
        }
        #expect(report.expired == 0)
        #expect(try store.state(event) == .ready)
    }

    @Test func onlyWhatIsSurelyTooOldExpires() throws {
        let store = try TemporaryStore()
        let maker = EventMaker(store.clock)
        let old = maker.score(1, board: "old")
        try store.accept(old)
        store.clock.advance(milliseconds: 100_000)
        let late = maker.score(1, board: "young")
        try store.accept(late)
        func expire() throws -> ExpireReport {
            let now = store.now
            return try store.run { (outbox) throws(StoreError) in
                try outbox.expire(endpoint: "home", maximumAgeMilliseconds: 50_000, limit: 10, now: now)
            }
        }
        store.clock.step(milliseconds: 1_000_000_000)
        #expect(try expire().expired == 1)
        #expect(try store.state(old) == .dead)
        #expect(try store.state(late) == .ready)
        store.clock.setSynchronized(false)
        store.clock.reboot(bootID: "boot-2", afterMilliseconds: 1_000_000)
        #expect(try expire().expired == 0)
    }
}
