import KleosDaemon
import KleosModel
import KleosStore

/// Whatever shows notices to a user: it claims them, shows them, and now and then dies before it says so.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class SimulatedReader: @unchecked Sendable {
    private let world: World
    private let uid: UInt32
    private var round = 0

    init(_ world: World, uid: UInt32) {
        self.world = world
        self.uid = uid
    }

    /// Looks for notices, then plans the next look.
    func look() {
        world.schedule.after(world.schedule.number(1_000...21_600_000)) { [self] in look() }
        guard let daemon = world.daemon, daemon.isServing else { return }
        round += 1
        let (route, now, uid) = ("reader-\(round)", world.clock.read(), uid)
        daemon.engine.store.perform { outbox throws(StoreError) in
            try outbox.claimNotices(route: route, uid: uid, limit: 5, now: now)
        } then: { [self] result in
            guard case .success(let notices) = result, !notices.isEmpty else { return }
            show(notices, route: route)
        }
    }

    private func show(_ notices: [Notice], route: String) {
        for notice in notices { world.showed(notice) }
        guard !world.schedule.chance(oneIn: 10) else { return }
        let (numbers, uid) = (notices.map(\.number), uid)
        world.schedule.after(world.schedule.skewed(1...5_000)) { [self] in
            guard let daemon = world.daemon, daemon.isServing else { return }
            let now = world.clock.read()
            daemon.engine.store.perform { outbox throws(StoreError) in
                try outbox.acknowledgeNotices(numbers, route: route, uid: uid, now: now)
            } then: { _ in
            }
        }
    }
}
