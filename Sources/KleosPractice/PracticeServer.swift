import Dispatch
import Glibc
package import KleosJSON
import KleosSupport
import Synchronization

/// A practice endpoint in this process: the default contract on a real socket, with scripted faults.
package final class PracticeServer: Sendable {
    /// How a server is set up.
    package struct Options: Sendable {
        /// Where it listens; port 0 picks a free one.
        package var address = TCPAddress(host: "127.0.0.1", port: 0)
        /// The folder of the store; nil keeps everything in memory.
        package var storeFolder: String?
        /// The token that submissions must bring; nil where none is needed.
        package var token: String?
        /// The faults to begin with.
        package var faults = Faults()
        /// How many of the latest requests are kept.
        package var keptRequests = 10_000

        /// The usual options: memory only, a free port of 127.0.0.1.
        package init() {}
    }

    /// Where it listens.
    package let address: TCPAddress
    private let shared: PracticeShared
    private let finished = DispatchSemaphore(value: 0)
    private let isStopped = Mutex(false)

    /// Starts a server. `onFailure` is called on its thread where it must end because the store or a system call fails;
    /// what was not durable then was not answered. Throws `SystemError`, or an error that describes a damaged store.
    package init(options: Options = Options(), onFailure: (@Sendable (String) -> Void)? = nil) throws {
        var store = PracticeStore()
        let journal = try options.storeFolder.map { try Journal(folder: $0, store: &store) }
        var service = PracticeService(store: store, token: options.token, keptRequests: options.keptRequests)
        service.faults.set(options.faults)
        let shared = try PracticeShared(service: service)
        let (listener, address) = try TCPSocket.listen(at: options.address)
        self.shared = shared
        self.address = address
        let finished = finished
        let resources = ServerResources(listener: listener, journal: journal)
        // A queue of its own, so that the loop has a thread of its own.
        DispatchQueue(label: "kleos.practice").async {
            Self.serve(shared, resources, onFailure)
            finished.signal()
        }
    }

    /// Runs the loop; when this returns, the listener, the connections and the journal are closed.
    private static func serve(
        _ shared: PracticeShared, _ resources: ServerResources, _ onFailure: (@Sendable (String) -> Void)?
    ) {
        guard let (listener, journal) = resources.take() else { return }
        do throws(SystemError) {
            try EventLoop(shared: shared, listener: listener, journal: journal).run()
        } catch {
            onFailure?("\(error)")
        }
    }

    deinit {
        stop()
    }

    /// The base URL, without a trailing slash.
    package var url: String { "http://\(address)" }

    /// Closes the listener and every connection, and waits until that is done. May be called more than once.
    package func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            shared.requestStop()
            finished.wait()
        }
    }

    /// Replaces the faults.
    package func setFaults(_ faults: Faults) {
        shared.withService { $0.setFaults(faults) }
        shared.wake()
    }

    /// The faults as they stand: scripts and counts get shorter as requests come.
    package var faults: Faults { shared.withService { $0.faults.faults } }

    /// The latest requests to the contract's paths, oldest first.
    package var requests: [RequestRecord] { shared.withService { $0.log.records } }

    /// How many requests came to the contract's paths.
    package var requestCount: Int { shared.withService { $0.log.total } }

    /// All boards, by game and name.
    package var boards: [Board] { shared.withService { $0.boardList() } }

    /// One board; nil where no score came for it.
    package func board(game: String, leaderboard: String) -> Board? {
        shared.withService { $0.store.boards[PracticeStore.BoardName(game: game, leaderboard: leaderboard)] }
    }

    /// All achievements that players have progress in.
    package var achievements: [AchievementStanding] { shared.withService { $0.achievementList() } }

    /// How often `key` took effect; more than 1 would be an error of the endpoint.
    package func effectCount(ofKey key: String) -> Int { shared.withService { $0.store.keys[key]?.effects ?? 0 } }

    /// How many keys took effect.
    package var keyCount: Int { shared.withService { $0.store.keys.count } }

    /// What `/counts` answers.
    package var counts: JSONValue { shared.withService { $0.counts } }

    /// Waits until `count` requests came to the contract's paths; false where they do not come in time.
    package func waitForRequests(count: Int, timeoutSeconds: Double = 30) -> Bool {
        shared.wait(timeoutSeconds: timeoutSeconds) { $0.log.total >= count }
    }

    /// Waits until `count` keys took effect; false where they do not in time.
    package func waitForKeys(count: Int, timeoutSeconds: Double = 30) -> Bool {
        shared.wait(timeoutSeconds: timeoutSeconds) { $0.store.keys.count >= count }
    }

    /// Waits until a kept request satisfies `condition`; false where none does in time.
    package func waitForRequest(
        timeoutSeconds: Double = 30, where condition: @escaping @Sendable (RequestRecord) -> Bool
    ) -> Bool {
        shared.wait(timeoutSeconds: timeoutSeconds) { $0.log.records.contains(where: condition) }
    }
}

/// Hands the listener and the journal to the server's thread, so that they are closed when that thread is done with
/// them and not when the last closure that saw them goes.
private final class ServerResources: Sendable {
    private let content: Mutex<(listener: FileDescriptor, journal: Journal?)?>

    init(listener: FileDescriptor, journal: Journal?) {
        content = Mutex((listener, journal))
    }

    func take() -> (listener: FileDescriptor, journal: Journal?)? {
        content.withLock { content in
            defer { content = nil }
            return content
        }
    }
}
