import CSimulatedDisk
import KleosModel
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

@testable import KleosStore

/// Power cuts through the real store on the real SQLite. A failing seed plays again with KLEOS_POWER_CUT_SEED=N.
@Suite struct PowerCutTests {
    /// How many cuts one outbox lives through.
    static let cutsPerWorld = 50

    /// The worlds of a run, one seed each.
    static var seeds: [UInt64] {
        if let text = Environment["KLEOS_POWER_CUT_SEED"], let seed = UInt64(text) { return [seed] }
        let cuts = TestStage.size("POWER_CUTS", usual: 200, long: 5_000)
        return Array(1...UInt64((cuts + cutsPerWorld - 1) / cutsPerWorld))
    }

    @Test func nothingAcknowledgedIsLost() throws {
        var figures = PowerCutWorld.Figures()
        var (cuts, dropped, torn): (Int64, Int64, Int64) = (0, 0, 0)
        var lost = 0
        for seed in Self.seeds {
            var world = try PowerCutWorld(seed: seed)
            while world.counts.cuts < Self.cutsPerWorld, world.problems.isEmpty { world.liveUntilCut() }
            world.finish()
            #expect(
                world.problems == [], "play it again with KLEOS_POWER_CUT_SEED=\(seed), after cut \(world.counts.cuts)")
            lost += world.problems.filter { $0.hasPrefix("acknowledged and lost") }.count
            cuts += world.counts.cuts
            dropped += world.counts.dropped_writes
            torn += world.counts.torn_writes
            figures.acknowledged += world.figures.acknowledged
            figures.transactions += world.figures.transactions
            figures.unansweredKept += world.figures.unansweredKept
            figures.compared += world.figures.compared
            figures.crashes += world.figures.crashes
            figures.interruptedStarts += world.figures.interruptedStarts
        }
        // Without these the worlds would have proved nothing.
        #expect(figures.acknowledged > 0 && dropped > 0 && torn > 0 && figures.compared > 0)
        TestStage.report(
            "power cuts",
            "\(cuts) cuts, \(figures.interruptedStarts) of them at a start, \(figures.crashes) kills, "
                + "\(figures.acknowledged) events acknowledged in \(figures.transactions) transactions, "
                + "\(dropped) writes dropped, \(torn) torn, \(lost) events lost")
    }

    /// The way in which it would be lost: a log that is not synced at each COMMIT.
    @Test func withoutASyncAtEachCommitEventsAreLost() throws {
        var lost = 0
        for seed in UInt64(1)...4 {
            var world = try PowerCutWorld(seed: seed, synchronous: "NORMAL")
            for _ in 0..<20 where world.problems.isEmpty { world.liveUntilCut() }
            lost += world.problems.filter { $0.hasPrefix("acknowledged and lost") }.count
        }
        #expect(lost > 0)
    }

    /// Linux forgets what it could not write, and shows it nevertheless: the next daemon reads a log that the disk does
    /// not have, and what it writes behind a hole would be lost with it.
    @Test(arguments: 1...20) func aFailedSyncIsMadeGoodAtTheNextStart(seed: UInt64) throws {
        let (disk, folder, clock) = (SimulatedDisk(seed: seed), try TemporaryFolder(), ManualClock())
        let maker = EventMaker(clock)
        let events = (0..<3).map { maker.score($0, board: "b\($0)") }
        func open() throws -> FragileStore {
            try FragileStore(folder: folder.path, disk: disk, clock: clock)
        }
        func accept(_ event: Event, _ store: FragileStore) -> Bool {
            let result = store.run { (outbox) throws(StoreError) in
                _ = try outbox.accept(event, fanOut: [way()])
                return PowerCutAction.Done()
            }
            return (try? result?.get()) != nil
        }
        let first = try open()
        #expect(accept(events[0], first))
        disk.fail(.sync)
        #expect(!accept(events[1], first))
        #expect(first.hasFailed)
        first.close()
        let second = try open()
        #expect(accept(events[2], second))
        disk.cutPower()
        second.close()
        let third = try open()
        let kept = try third.outbox { (outbox) throws(StoreError) in try PowerCutWorld.Found(outbox) }
        #expect(kept.problems == [])
        #expect(kept.events[events[0].key] == events[0])
        #expect(kept.events[events[2].key] == events[2])
        third.close()
    }

    /// After a failed sync another one succeeds, and the log would be given up with what the disk never got.
    @Test func afterAFailedCheckpointNothingIsAnswered() throws {
        let (disk, folder, clock) = (SimulatedDisk(seed: 1), try TemporaryFolder(), ManualClock())
        let fragile = try FragileStore(folder: folder.path, disk: disk, clock: clock)
        let event = EventMaker(clock).score(1)
        let work: @Sendable (Outbox) throws(StoreError) -> PowerCutAction.Done = { (outbox) throws(StoreError) in
            _ = try outbox.accept(event, fanOut: [way()])
            return PowerCutAction.Done()
        }
        #expect(throws: Never.self) { try fragile.run(work)?.get() }
        disk.fail(.sync)
        let isPurged = Mutex<Bool?>(nil)
        fragile.store.purge { result in isPurged.withLock { $0 = (try? result.get()) != nil } }
        fragile.store.sync { _ in }
        #expect(isPurged.withLock { $0 } == false)
        #expect(fragile.hasFailed)
        #expect(fragile.run(work) == nil)
        fragile.close()
    }
}
