import Dispatch
import Glibc
import KleosClient
package import KleosSupport

/// Shows the notices of the user's and the system's daemon on the desktop, for ever.
package struct DesktopAgent: Sendable {
    /// For each daemon the places where its socket may be, best first.
    package var daemons: [[String]]
    package var locale: String?
    package var plan: NoticePlan
    /// Where what was shown is kept until the daemon knows of it; nil for in memory only.
    package var stateFolder: String?
    private let clock: any Clock
    private let log: Log

    /// Makes an agent for these daemons.
    package init(
        daemons: [[String]], locale: String?, plan: NoticePlan = NoticePlan(), stateFolder: String? = nil,
        clock: any Clock = SystemClock(), log: Log
    ) {
        self.stateFolder = stateFolder
        self.daemons = daemons
        self.locale = locale
        self.plan = plan
        self.clock = clock
        self.log = log
    }

    /// Runs on a thread for each daemon, and never returns.
    package func run() -> Never {
        // Games that are started from here are nobody's to wait for.
        signal(SIGCHLD, SIG_IGN)
        for daemon in daemons.dropFirst() {
            let queue = DispatchQueue(label: "kleos.agent")
            queue.async { follow(daemon) }
        }
        follow(daemons.first ?? [])
    }

    private func follow(_ candidates: [String]) -> Never {
        // Each daemon has a file of its own, named for the place of its socket.
        let name = (candidates.first ?? "").map { $0 == "/" ? "-" : $0 }.suffix(200)
        let shown = ShownNotices(path: stateFolder.map { "\($0)/shown\(String(name))" }, log: log)
        var presenter = NoticePresenter(plan: plan, clock: clock, log: log, locale: locale, shown: shown) {
            () throws(DesktopError) in try NotificationService()
        }
        var delay = RetryDelay(firstMilliseconds: 500, maximumMilliseconds: 60_000)
        while true {
            do throws(ConnectionError) {
                let connection = try KleosConnection.open(candidates)
                log(.info, "connected", ["socket": connection.path])
                delay.reset()
                try presenter.run(connection)
            } catch {
                report(error, isFirst: !delay.hasFailed)
                Self.sleep(milliseconds: delay.next())
            }
        }
    }

    private func report(_ error: ConnectionError, isFirst: Bool) {
        switch error {
        // A daemon that is not there is an ordinary thing: a machine may have either of the two.
        case .noDaemon: if isFirst { log(.debug, "no daemon yet") }
        case .closed: log(.info, "the daemon went away; connecting again")
        default: log(.warning, "connecting again: \(error)")
        }
    }

    private static func sleep(milliseconds: Int64) {
        let deadline = nowMilliseconds + milliseconds
        while true {
            let remaining = deadline - nowMilliseconds
            guard remaining > 0 else { return }
            _ = poll(nil, 0, Int32(clamping: remaining))
        }
    }

    private static var nowMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
