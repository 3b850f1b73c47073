import KleosDaemon
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport

/// One run of the daemon: the real engine on queues that are stepped, on a disk that forgets, in a network of moods.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class SimulatedDaemon: @unchecked Sendable {
    let life = Life()
    let engine: Engine
    let transport: SimulatedTransport
    private let queues: [StepQueue]
    private let world: World
    /// Whether clients get through: what an earlier run left has been taken up.
    private(set) var isServing = false
    private static let maintenanceMilliseconds: Int64 = 3_600_000

    /// Opens the outbox. Throws `StoreError`, as the daemon would exit.
    init(_ world: World) throws(StoreError) {
        self.world = world
        queues = [StepQueue(world.schedule, life: life), StepQueue(world.schedule, life: life)]
        transport = SimulatedTransport(world, life: life)
        let store = try Store.open(
            directory: world.folder.path, options: world.storeOptions, clock: world.clock, log: world.log,
            executor: QueueExecutor(queues[0]))
        let worker = DeliveryWorker(
            store: store, transport: transport, clock: world.clock,
            random: SeededGenerator(seed: world.schedule.random.next()), log: world.log,
            executor: QueueExecutor(queues[1]))
        engine = Engine(store: store, worker: worker, clock: world.clock, log: world.log)
        let life = life
        store.setFailureHandler { error in
            world.trace("the outbox failed: \(error)")
            world.daemonFailed(life)
        }
    }

    /// Begins to work.
    func begin() {
        let (world, life) = (world, life)
        engine.wire { changes in world.committed(changes) }
        engine.start(world.setup) { [weak self] result in
            switch result {
            case .success: self?.serve()
            case .failure: world.daemonFailed(life)
            }
        }
    }

    private func serve() {
        guard life.isAlive else { return }
        isServing = true
        world.trace("the daemon serves")
        maintain()
    }

    private func maintain() {
        engine.maintain(world.setup)
        world.schedule.after(Self.maintenanceMilliseconds, life) { [weak self] in self?.maintain() }
    }

    /// How often timers went off in it, and how much work waits.
    var timersFired: Int { queues.reduce(0) { $0 + $1.timersFired } }
    var depth: Int { queues.reduce(0) { $0 + $1.depth } }

    /// Stops as SIGTERM makes the daemon stop, then calls `completion`.
    func stop(then completion: @escaping @Sendable () -> Void) {
        isServing = false
        let store = engine.store
        engine.worker.async { worker in
            worker.stop { store.close(then: completion) }
        }
    }

    /// Ends it between two instructions.
    func die() {
        isServing = false
        life.end()
        transport.die()
        engine.store.abandon()
        for queue in queues { queue.clear() }
    }
}
