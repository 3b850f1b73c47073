import Glibc
import KleosClient
import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosWire

/// One practice run, from the start of its programs to the end of all of them. Used from one thread.
final class PracticeRun {
    private let plan: PracticePlan
    private let signals: PracticeSignals
    private let session: Session
    private var folder: PracticeFolder?
    private var endpoint: PracticeServer?
    private var daemon: PracticeDaemon?

    init(_ plan: PracticePlan, _ signals: PracticeSignals, _ session: Session) {
        self.plan = plan
        self.signals = signals
        self.session = session
    }

    /// Runs the command and reports; `stop` must follow. Throws a failure.
    func run() throws(CommandFailure) -> ExitCode {
        let folder = try PracticeFolder(keeping: plan.keptFolder)
        self.folder = folder
        let endpoint = try startEndpoint()
        self.endpoint = endpoint
        try configure(folder, endpoint)
        let daemon = try PracticeDaemon(folder, signals)
        self.daemon = daemon
        guard let ending = try runCommand(folder, endpoint, daemon) else { return stopped() }
        let report: PracticeReport
        do throws(ConnectionError) {
            let connection = try KleosConnection.open(["\(folder.path)/control.sock"])
            try drain(connection)
            guard signals.stopSignal == nil else { return stopped() }
            report = try PracticeReport(connection, endpoint)
        } catch {
            signals.wait(milliseconds: 0)
            throw signals.ending(of: daemon.processID) == nil ? DaemonFailure.failure(error) : daemon.ended()
        }
        let differences = plan.expectations.differences(report.rows)
        let code = ending.code != 0 ? ending.code : differences.isEmpty ? 0 : 1
        for line in report.lines { session.json(line) }
        for line in PracticeReport.closing(differences, ending, code: code, of: report) { session.json(line) }
        for difference in differences { session.warn(difference.message) }
        return ExitCode(rawValue: code)
    }

    /// Ends all that runs, and removes what is not to be kept.
    func stop() {
        signals.endDescendants(except: daemon?.processID)
        if let daemon { signals.end(daemon.processID, milliseconds: 10_000) }
        // A daemon that was still starting is a descendant like any other.
        signals.endDescendants(except: nil)
        endpoint?.stop()
        folder?.remove()
    }

    private func stopped() -> ExitCode {
        let signal = signals.stopSignal ?? SIGTERM
        session.warn("stopped by signal \(signal); everything was ended and removed")
        return ExitCode(rawValue: 128 + signal)
    }

    private func startEndpoint() throws(CommandFailure) -> PracticeServer {
        var options = PracticeServer.Options()
        options.faults = plan.faults
        do {
            return try PracticeServer(options: options)
        } catch {
            throw CommandFailure(.system, "the practice endpoint cannot start: \(error)")
        }
    }

    private func configure(_ folder: PracticeFolder, _ endpoint: PracticeServer) throws(CommandFailure) {
        for (name, bytes) in plan.games.sorted(by: { $0.key < $1.key }) { try folder.write("games.d/\(name)", bytes) }
        // Scripted faults are over soon when the next try comes soon.
        let text = "[Endpoint]\nURL=\(endpoint.url)\n\n[Retry]\nBase=250ms\nCap=500ms\n"
        try folder.write("endpoints.d/practice.conf", Array(text.utf8))
    }

    /// Runs the command to its end; nil where a signal asked to stop. Throws a failure.
    private func runCommand(
        _ folder: PracticeFolder, _ endpoint: PracticeServer, _ daemon: PracticeDaemon
    ) throws(CommandFailure) -> ProcessEnding? {
        guard signals.stopSignal == nil else { return nil }
        let child: pid_t
        do throws(SystemError) {
            child = try ProgramStart.start(
                plan.command,
                environment: Environment.adding([
                    "KLEOS_SOCKET": "\(folder.path)/kleos.sock", "KLEOS_CONTROL_SOCKET": "\(folder.path)/control.sock",
                    "KLEOS_PRACTICE_URL": endpoint.url,
                ]), files: (STDIN_FILENO, STDERR_FILENO, STDERR_FILENO), hasOwnGroup: false)
        } catch {
            let code: Int32 = error.code == ENOENT ? 127 : 126
            throw CommandFailure(ExitCode(rawValue: code), error.description)
        }
        while signals.ending(of: child) == nil {
            signals.wait(milliseconds: 60_000)
            if let signal = signals.stopSignal {
                signals.end(child, with: signal, milliseconds: 5_000)
                return nil
            }
            if signals.ending(of: daemon.processID) != nil {
                signals.end(child, milliseconds: 5_000)
                throw daemon.ended()
            }
        }
        signals.endDescendants(except: daemon.processID)
        return signals.ending(of: child)
    }

    /// Waits until nothing is on its way, nothing more can be expected, or the time is up. Throws `ConnectionError`.
    private func drain(_ connection: KleosConnection) throws(ConnectionError) {
        let deadline = session.clock.read().monotonicMilliseconds + plan.timeoutMilliseconds
        _ = try connection.request(.subscribe, SubscribeParameters(topics: [.deliveries, .endpoints]).parameters)
        while signals.stopSignal == nil {
            let status = StatusAnswer(json: try connection.request(.status))
            let moving: [DeliveryState] = [.waiting, .ready, .sending]
            let isEmpty = moving.allSatisfy { status.counts[$0] ?? 0 == 0 }
            // A paused endpoint waits for an operator, who is not here.
            if isEmpty || status.endpoints.allSatisfy({ $0.condition == "paused" }) { return }
            let left = deadline - session.clock.read().monotonicMilliseconds
            guard left > 0 else { return }
            // Changes may be lost with a slow reader, and a signal to stop is looked for in between.
            _ = try connection.nextNotification(timeoutMilliseconds: min(left, 250))
            _ = connection.takeNotifications()
            signals.wait(milliseconds: 0)
        }
    }
}
