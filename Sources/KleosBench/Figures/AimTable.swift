/// The table of aims, filled in from a run.
package enum AimTable {
    /// Events that have to wait for a value to count as one with a backlog.
    package static let backlogEvents = 1_000_000.0
    /// The share of its speed, in D, that enqueueing keeps with a backlog where it is called flat.
    static let flatShare = 0.8

    /// All lines, in order.
    package static func lines(_ ledger: Ledger) -> [Aim] {
        enqueueing(ledger) + delivering(ledger) + memoryAndStart(ledger)
    }

    private static func enqueueing(_ ledger: Ledger) -> [Aim] {
        func ratio(_ shape: Shape) -> Double? { ledger.median(Subject.enqueue(shape), .ratio) }
        func rate(_ shape: Shape) -> Double? { ledger.median(Subject.enqueue(shape), .perSecond) }
        let wide = Shape(clients: 1, window: 256)
        let long = Subject.enqueue(wide, "backlog")
        var kept: Double?
        if let short = ratio(wide), short > 0, let late = ledger.median(long, .ratio) { kept = late / short }
        return [
            Aim(
                "enqueue 1x1, in D", .ratio, ratio(Shape(clients: 1, window: 1)), must: .atLeast(0.45),
                aims: [.atLeast(0.6), .atLeast(0.9)], isInD: true),
            Aim(
                "enqueue 16x1, in D", .ratio, ratio(Shape(clients: 16, window: 1)), must: .atLeast(2.5),
                aims: [.atLeast(3.5), .atLeast(5)], isInD: true),
            Aim(
                "enqueue 1x256, a second", .perSecond, rate(wide), must: .atLeast(40_000),
                aims: [.atLeast(60_000), .atLeast(90_000)]),
            Aim(
                "enqueue 1x256 with the backlog, a second", .perSecond,
                ifLong(ledger, ledger.median(long, .perSecond)), must: .atLeast(40_000),
                aims: [.atLeast(60_000), .atLeast(90_000)]),
            Aim(
                "enqueue 1x256, share kept with the backlog", .ratio, ifLong(ledger, kept),
                must: .atLeast(flatShare), isInD: true),
            Aim(
                "enqueue 16x256, a second", .perSecond, rate(Shape(clients: 16, window: 256)), must: .atLeast(50_000),
                aims: [.atLeast(80_000), .atLeast(125_000)]),
        ]
    }

    private static func delivering(_ ledger: Ledger) -> [Aim] {
        [
            Aim(
                "delivery, short queue, in libcurl alone", .ratio, ledger.median(Subject.deliveryShort, .ratio),
                must: .atLeast(0.25), aims: [.atLeast(0.5)]),
            Aim(
                "delivery with the backlog, in libcurl alone", .ratio,
                ifLong(ledger, ledger.median(Subject.deliveryBacklog, .ratio)), must: .atLeast(0.25),
                aims: [.atLeast(0.5)]),
            Aim(
                "pages of the log, one event, enqueue", .pages, ledger.median(Subject.aloneEnqueue, .pages),
                must: .atMost(5)),
            Aim(
                "pages of the log, one event, delivery", .pages, ledger.median(Subject.aloneDelivery, .pages),
                must: .atMost(8.5)),
        ]
    }

    private static func memoryAndStart(_ ledger: Ledger) -> [Aim] {
        // A large catalog has its own memory, which is shown beside it.
        let shapes = ledger.subjects.filter {
            $0.hasPrefix("enqueue ") && !$0.hasSuffix(Subject.catalog) || $0 == Subject.deliveryShort
        }
        let highest = shapes.compactMap { ledger.highest($0, .memoryMebibytes) }.max()
        let kill = ledger.median(Subject.killBacklog, .milliseconds)
        return [
            Aim(
                "RssAnon, highest of all shapes, MiB", .memoryMebibytes, highest, must: .atMost(16),
                aims: [.atMost(8)]),
            Aim(
                "RssAnon with the backlog, MiB", .memoryMebibytes,
                ifLong(ledger, ledger.highest(Subject.backlog, .memoryMebibytes)), must: .atMost(16),
                aims: [.atMost(8)]),
            Aim(
                "kill -9 to first answer, backlog, ms", .milliseconds, ifLong(ledger, kill), must: .atMost(250),
                aims: [.atMost(100)]),
        ]
    }

    /// `value` where the backlog was as long as the aims ask; nil else.
    private static func ifLong(_ ledger: Ledger, _ value: Double?) -> Double? {
        (ledger.median(Subject.backlog, .waiting) ?? 0) >= backlogEvents ? value : nil
    }
}
