import Dispatch
import Glibc
import KleosSupport

/// One run of the benchmark: rounds in which limits and kleos take turns, then what is measured once.
package final class BenchRun {
    let options: BenchOptions
    /// Everything of the run lies in here; it is removed at the end.
    let folder: String
    let web: WebServer
    /// What was measured so far.
    package internal(set) var ledger = Ledger()
    private let clock = SystemClock()
    private let began: Int64
    private let signals: [any DispatchSourceSignal]

    /// Requests that are out at once, of kleos and of libcurl alone.
    static let connections = 32
    private static let turnSeconds = 0.5
    private static let syncSeconds = 0.2

    /// Makes a folder in `parent`, and starts the endpoint. Throws `BenchFailure` or `SystemError`.
    package init(_ options: BenchOptions, parent: String) throws {
        self.options = options
        folder = try BenchFolder.make(in: parent)
        signals = RunningPrograms.shared.endWithSignals(removing: folder)
        began = clock.monotonicNanoseconds
        do {
            web = try WebServer(folder: "\(folder)/web")
        } catch {
            BenchFolder.remove(folder)
            throw error
        }
    }

    deinit { BenchFolder.remove(folder) }

    /// The name of what answers deliveries.
    package var endpointName: String { web.name }

    /// How long the run has taken so far.
    package var elapsedSeconds: Double { Double(clock.monotonicNanoseconds - began) / 1e9 }

    /// Measures everything that the options ask for. Throws `BenchFailure` or `SystemError`.
    package func measure() throws {
        let peers = options.withPeers ? Peers.installed(&ledger) : []
        for round in 1...options.rounds {
            say("round \(round) of \(options.rounds)")
            try measureLimits()
            try measureEnqueueing(round)
            try measureDelivery()
            for peer in peers { measure(peer) }
        }
        say("log of one event, programs, catalog")
        try measureAlone()
        try measureCatalog()
        try measureSyncs()
        if options.backlog > 0 {
            say("backlog of \(Decimal.text(Double(options.backlog), places: 0)) events")
            try measureBacklog()
        }
    }

    /// Tells a person who waits where the run is.
    func say(_ what: String) {
        StandardStream.errors.write("kleos-bench: \(what) (\(Int(elapsedSeconds)) s)\n")
    }

    /// A daemon with an empty queue. Throws `SystemError`.
    func daemon(_ name: String, boards: Int = 0) throws(SystemError) -> BenchDaemon {
        try BenchDaemon(folder: "\(folder)/\(name)", url: web.url, boards: boards)
    }

    /// Runs `work` in turns of half a second with D, until `seconds` of it are over, and returns the sum of its parts;
    /// adds it under `subject`, with its ratio to D. A disk changes its pace within seconds, above all where other
    /// machines use it too. Throws what `work` throws.
    @discardableResult
    func besideSync(_ subject: String, seconds: Double, _ work: (Double) throws -> LoadResult) throws -> LoadResult {
        let turns = max(1, Int((seconds / Self.turnSeconds).rounded()))
        var sync = LoadResult.none
        var sum = LoadResult.none
        for turn in 0...turns {
            sync += try SyncLoop.run(folder: folder, seconds: Self.syncSeconds)
            if turn == turns { break }
            sum += try work(seconds / Double(turns))
        }
        ledger.add(Subject.sync, sync, base: nil)
        ledger.add(subject, sum, base: sync.perSecond)
        return sum
    }

    /// Enqueues in `shape`, in turns with D, and adds what it took under `subject`. Throws `BenchFailure` or
    /// `SystemError`.
    func enqueue(_ daemon: BenchDaemon, _ shape: Shape, _ events: inout EventLines, as subject: String) throws {
        let before = try daemon.usage()
        let (result, mebibytes) = try MemoryWatch.during(daemon.id) {
            try besideSync(subject, seconds: options.seconds) { seconds in
                try Load(shape, seconds: seconds).run(&events) { try UnixSocket.connect(to: daemon.socket) }
            }
        }
        let used = try daemon.usage().since(before)
        ledger.add(subject, used, count: result.count, mebibytes: mebibytes)
    }

    /// Fills the queue with `count` events. Throws `BenchFailure` or `SystemError`.
    func fill(_ daemon: BenchDaemon, _ count: Int, _ events: inout EventLines) throws {
        _ = try Load(Shape(clients: 4, window: 256), seconds: 7_200, limit: count).run(&events) {
            try UnixSocket.connect(to: daemon.socket)
        }
    }
}
