import Glibc
import KleosSupport

/// What is measured once in a run.
extension BenchRun {
    /// The pages that one event alone adds to the log, submitted and delivered while many others wait. Throws
    /// `BenchFailure` or `SystemError`.
    func measureAlone() throws {
        let daemon = try daemon("alone")
        defer { daemon.remove() }
        try daemon.start()
        try daemon.setPaused(true)
        var others = EventLines(game: BenchDaemon.game)
        try fill(daemon, 20_000, &others)
        for _ in 0..<15 {
            ledger.add(Subject.aloneEnqueue, .pages, try LogGrowth.measure(daemon, until: nil, &others))
        }
        var alone = EventLines(game: BenchDaemon.aloneGame)
        let enqueue = ledger.median(Subject.aloneEnqueue, .pages) ?? 0
        for number in 0..<16 {
            let delivered = try daemon.count("delivered")
            let both = try LogGrowth.measure(daemon, until: delivered + 1, &alone)
            // The first also tells the store that the endpoint answers.
            if number > 0 { ledger.add(Subject.aloneDelivery, .pages, both.map { $0 - enqueue }) }
        }
    }

    /// `kleos submit` as a program of its own. Throws `BenchFailure` or `SystemError`.
    func measurePrograms(_ daemon: BenchDaemon) throws {
        let clock = SystemClock()
        var milliseconds: [Double] = []
        for number in 0..<(options.isQuick ? 30 : 100) {
            let command = daemon.command(["submit", "score", BenchDaemon.game, "runs", "\(number)", "--player", "ada"])
            let began = clock.monotonicNanoseconds
            try Program(command, output: "\(folder)/submit.log").finish()
            milliseconds.append(Double(clock.monotonicNanoseconds - began) / 1e6)
        }
        ledger.add(Subject.program, .milliseconds, Statistics.median(milliseconds))
    }

    /// A catalog of ten thousand boards. Throws `BenchFailure` or `SystemError`.
    func measureCatalog() throws {
        let daemon = try daemon("catalog", boards: 10_000)
        defer { daemon.remove() }
        ledger.add(Subject.startCatalog, .milliseconds, try daemon.start())
        try daemon.setPaused(true)
        var events = EventLines(game: BenchDaemon.game)
        let shape = Shape(clients: 1, window: 1)
        try enqueue(daemon, shape, &events, as: Subject.enqueue(shape, Subject.catalog))
    }

    /// Syncs for each event, counted by strace, which slows the rest a little. Throws `BenchFailure` or `SystemError`.
    func measureSyncs() throws {
        guard ProgramPath.installed("strace") != nil else {
            ledger.skip("syncs for each event: strace is not installed")
            return
        }
        let daemon = try daemon("syncs")
        defer { daemon.remove() }
        let trace = SyncTrace(file: "\(folder)/syncs.trace")
        do {
            try daemon.start(through: trace.command)
        } catch {
            ledger.skip("syncs for each event: strace cannot trace here (\(error))")
            return
        }
        try daemon.setPaused(true)
        var events = EventLines(game: BenchDaemon.game)
        for shape in Shape.all {
            let before = try trace.count()
            let result = try Load(shape, seconds: 0.7).run(&events) { try UnixSocket.connect(to: daemon.socket) }
            add(syncs: try trace.count() - before, of: result.count, to: Subject.enqueue(shape))
        }
        try daemon.setPaused(false)
        let before = try trace.count()
        let (first, window) = (try daemon.count("delivered"), try DeliveryWindow.measure(daemon, seconds: 1))
        let syncs = try trace.count() - before
        // Those that came before the window was open count too.
        add(syncs: syncs, of: max(window.count, try daemon.count("delivered") - first), to: Subject.deliveryShort)
    }

    private func add(syncs: Int, of count: Int, to subject: String) {
        if count > 0 { ledger.add(subject, .syncs, Double(syncs) / Double(count)) }
    }

    /// Everything again with many events waiting: enqueueing, memory, a kill, deliveries. Throws `BenchFailure` or
    /// `SystemError`.
    func measureBacklog() throws {
        let daemon = try daemon("backlog")
        defer { daemon.remove() }
        try daemon.start()
        try daemon.setPaused(true)
        var events = EventLines(game: BenchDaemon.game)
        let (_, filling) = try MemoryWatch.during(daemon.id) { try fill(daemon, options.backlog, &events) }
        ledger.add(Subject.backlog, .memoryMebibytes, filling)
        ledger.add(Subject.backlog, .waiting, Double(try daemon.count("waiting", "ready")))
        say("backlog is there")
        for _ in 0..<min(3, options.rounds) {
            for shape in [Shape(clients: 1, window: 1), Shape(clients: 1, window: 256)] {
                try enqueue(daemon, shape, &events, as: Subject.enqueue(shape, "backlog"))
            }
            ledger.add(Subject.killBacklog, .milliseconds, try daemon.killAndRestart(&events))
            try deliver(daemon, as: Subject.deliveryBacklog)
            ledger.add(Subject.backlog, .memoryMebibytes, ledger.all(Subject.deliveryBacklog, .memoryMebibytes).last)
        }
    }
}
