import Glibc
import KleosSupport
import KleosTestSupport

/// Kills and stops the daemon and the endpoints at moments that a seed draws: at an acknowledgement, at a request, at a
/// byte of an answer.
struct KillDirector {
    /// How often what was done.
    struct Tally: Sendable {
        var kills = 0
        var endpointKills = 0
        var stops = 0
        /// Kills at the drawn event; the others came after the time that is waited for one.
        var exact = 0
    }

    private enum Moment {
        case acknowledgements(Int)
        case traffic(EndpointRelay.Trip)
    }

    private let world: TortureWorld
    private var random: SeededGenerator
    private(set) var tally = Tally()

    init(world: TortureWorld, seed: UInt64) {
        self.world = world
        random = SeededGenerator(seed: seed)
    }

    /// Lets the clients work, kills the daemon at the moment drawn, and starts it again. Throws `SystemError`.
    mutating func killOnce() throws(SystemError) {
        grant(Int.random(in: 6...24, using: &random))
        world.beginProgram()
        let service = draw(world.services)
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            reachMoment(at: service)
            try killBoth(service)
        case 1:
            tally.stops += 1
            service.practice.send(SIGSTOP)
            reachMoment(at: service)
            try killDaemon()
            service.practice.send(SIGCONT)
        case 2:
            stopDaemon()
            try killDaemon()
        case 3:
            stopDaemon()
            world.scenario.send(SIGCONT)
            reachMoment(at: service)
            try killDaemon()
        default:
            reachMoment(at: service)
            try killDaemon()
        }
    }

    private mutating func draw<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }

    private func grant(_ count: Int) {
        world.ledger.monitor.change { $0.permits += count }
    }

    private mutating func killDaemon() throws(SystemError) {
        world.scenario.kill()
        tally.kills += 1
        for service in world.services { service.relay.release() }
        try world.start()
    }

    /// The endpoint dies first, and comes back to a daemon that has tried in vain.
    private mutating func killBoth(_ service: TortureWorld.Service) throws(SystemError) {
        service.practice.kill()
        tally.endpointKills += 1
        try killDaemon()
        let target = service.relay.requestCount + 1
        grant(4)
        _ = service.relay.waitForRequests(target, milliseconds: 1_000)
        try service.practice.restart()
    }

    /// Stops the daemon and lets the clients write to it.
    private mutating func stopDaemon() {
        tally.stops += 1
        world.scenario.send(SIGSTOP)
        let target = world.ledger.monitor.read(\.sent) + Int.random(in: 1...8, using: &random)
        grant(8)
        _ = world.ledger.monitor.wait(milliseconds: 500) { $0.sent >= target }
    }

    /// Waits for the moment drawn, giving the clients more to do where it does not come.
    private mutating func reachMoment(at service: TortureWorld.Service) {
        let moment = drawMoment()
        let target: Int
        switch moment {
        case .acknowledgements(let count): target = world.ledger.monitor.read(\.acknowledgements) + count
        case .traffic(let trip):
            target = 0
            service.relay.arm(trip)
        }
        for _ in 0..<12 {
            let isReached =
                switch moment {
                case .acknowledgements:
                    world.ledger.monitor.wait(milliseconds: 250) { $0.acknowledgements >= target }
                case .traffic: service.relay.waitForTrip(milliseconds: 250)
                }
            if isReached {
                tally.exact += 1
                return
            }
            grant(6)
        }
    }

    private mutating func drawMoment() -> Moment {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .acknowledgements(Int.random(in: 1...30, using: &random))
        case 1: .traffic(.request(count: Int.random(in: 1...12, using: &random), isHeld: true))
        case 2: .traffic(.request(count: Int.random(in: 1...12, using: &random), isHeld: false))
        default: .traffic(.answerBytes(count: Int.random(in: 1...2_500, using: &random)))
        }
    }
}
