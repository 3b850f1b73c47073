import KleosSupport

/// What is measured in every round.
extension BenchRun {
    /// What disk and SQLite can do alone. Throws `BenchFailure` or `SystemError`.
    func measureLimits() throws {
        for rows in [1, 256] {
            try besideSync(Subject.sqlite(rows: rows), seconds: min(1, options.seconds)) { seconds in
                try SQLiteLoop.run(folder: folder, rows: rows, seconds: seconds)
            }
        }
    }

    /// Enqueueing on an empty queue, with deliveries paused. Throws `BenchFailure` or `SystemError`.
    func measureEnqueueing(_ round: Int) throws {
        let daemon = try daemon("enqueue")
        defer { daemon.remove() }
        ledger.add(Subject.start, .milliseconds, try daemon.start())
        try daemon.setPaused(true)
        var ordered = EventLines(game: BenchDaemon.game)
        for shape in Shape.all { try enqueue(daemon, shape, &ordered, as: Subject.enqueue(shape)) }
        let few = options.isQuick ? [Shape(clients: 1, window: 256)] : Shape.all
        var random = EventLines(game: BenchDaemon.game, order: .random)
        for shape in few { try enqueue(daemon, shape, &random, as: Subject.enqueue(shape, "random ids")) }
        var many = EventLines(game: BenchDaemon.game, players: 100_000)
        for shape in few { try enqueue(daemon, shape, &many, as: Subject.enqueue(shape, "100,000 streams")) }
        ledger.add(Subject.kill, .milliseconds, try daemon.killAndRestart(&ordered))
        if round == options.rounds { try measurePrograms(daemon) }
    }

    /// Deliveries from a short queue, between two times of libcurl alone. Throws `BenchFailure` or `SystemError`.
    func measureDelivery() throws {
        let daemon = try daemon("delivery")
        defer { daemon.remove() }
        try daemon.start()
        try daemon.setPaused(true)
        var events = EventLines(game: BenchDaemon.game)
        try fill(daemon, Int(15_000 * max(1, options.seconds)), &events)
        try deliver(daemon, as: Subject.deliveryShort)
    }

    /// Measures deliveries of what waits in `daemon`, and pauses them again. Throws `BenchFailure` or `SystemError`.
    func deliver(_ daemon: BenchDaemon, as subject: String) throws {
        let seconds = options.isQuick ? 0.7 : 1
        let first = try PostLoop.run(url: web.url, connections: Self.connections, seconds: seconds)
        try daemon.setPaused(false)
        let (window, mebibytes) = try MemoryWatch.during(daemon.id) {
            try DeliveryWindow.measure(daemon, seconds: options.seconds)
        }
        try daemon.setPaused(true)
        let second = try PostLoop.run(url: web.url, connections: Self.connections, seconds: seconds)
        for result in [first, second] {
            ledger.add(Subject.post, result, base: nil)
            ledger.add(Subject.post, .cpuMicroseconds, result.ownMicroseconds)
        }
        ledger.add(subject, .perSecond, window.perSecond)
        ledger.add(subject, .ratio, window.perSecond / ((first.perSecond + second.perSecond) / 2))
        ledger.add(subject, window.used, count: window.count, mebibytes: mebibytes)
    }
}
