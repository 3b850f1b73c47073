import Dispatch
import Glibc
import KleosSupport
import Synchronization

/// The programs that a run started and that still run: none outlives it, however it ends.
final class RunningPrograms: Sendable {
    /// Those of this process.
    static let shared = RunningPrograms()

    private let ids = Mutex<Set<Int32>>([])
    private let queue = DispatchQueue(label: "kleos.bench.signals")

    /// Ends them, removes `folder` and ends this process when it is asked to end, for as long as the result is kept.
    func endWithSignals(removing folder: String) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable [self] in
                killAll()
                BenchFolder.remove(folder)
                _exit(128 + number)
            }
            source.activate()
            return source
        }
    }

    func add(_ id: Int32) { ids.withLock { _ = $0.insert(id) } }

    func remove(_ id: Int32) { ids.withLock { _ = $0.remove(id) } }

    private func killAll() {
        // Each leads a group, in which its own children are.
        ids.withLock { all in for id in all { kill(-id, SIGKILL) } }
    }
}
