import KleosBench
import Testing

@Suite struct AimTests {
    private static let narrow = Shape(clients: 1, window: 1)
    private static let wide = Shape(clients: 1, window: 256)

    private static func aim(_ title: String, _ ledger: Ledger) -> Aim? {
        AimTable.lines(ledger).first { $0.title == title }
    }

    @Test func aBoundIsKeptAtItsOwnNumber() {
        #expect(Bound.atLeast(2).isKept(by: 2))
        #expect(!Bound.atLeast(2).isKept(by: 1.99))
        #expect(Bound.atMost(2).isKept(by: 2))
        #expect(!Bound.atMost(2).isKept(by: 2.01))
    }

    @Test func aimsAreReachedOneAfterTheOther() {
        let aims: [Bound] = [.atLeast(2), .atLeast(3)]
        func line(_ value: Double?) -> Aim { Aim("x", .ratio, value, must: .atLeast(1), aims: aims) }
        #expect(line(0.5).judgement == .notMet)
        #expect(line(1).judgement == .met)
        #expect(line(nil).judgement == .notMeasured)
        #expect([0.5, 2.5, 3].map { line($0).reached } == [0, 1, 2])
    }

    @Test func nothingIsMetByARunThatMeasuredNothing() {
        let lines = AimTable.lines(Ledger())
        #expect(lines.count == 13)
        #expect(lines.allSatisfy { $0.judgement == .notMeasured })
    }

    @Test func theMedianOfTheRoundsDecides() {
        var ledger = Ledger()
        for value in [0.5, 0.46, 0.1] { ledger.add(Subject.enqueue(Self.narrow), .ratio, value) }
        #expect(Self.aim("enqueue 1x1, in D", ledger)?.judgement == .met)
        for value in [0.2, 0.2] { ledger.add(Subject.enqueue(Self.narrow), .ratio, value) }
        #expect(Self.aim("enqueue 1x1, in D", ledger)?.judgement == .notMet)
    }

    @Test func theMostMemoryThatWasEverHeldDecides() {
        var ledger = Ledger()
        for value in [4.0, 17, 5] { ledger.add(Subject.enqueue(Self.wide, "random ids"), .memoryMebibytes, value) }
        ledger.add(Subject.enqueue(Self.narrow), .memoryMebibytes, 3)
        ledger.add(Subject.enqueue(Self.narrow, Subject.catalog), .memoryMebibytes, 40)
        #expect(Self.aim("RssAnon, highest of all shapes, MiB", ledger)?.value == 17)
        #expect(Self.aim("RssAnon, highest of all shapes, MiB", ledger)?.judgement == .notMet)
    }

    @Test(arguments: [(999_999.0, Judgement.notMeasured), (1_000_000, .met)])
    func aShortBacklogIsNone(waiting: Double, expected: Judgement) {
        var ledger = Ledger()
        ledger.add(Subject.backlog, .waiting, waiting)
        ledger.add(Subject.deliveryBacklog, .ratio, 0.3)
        ledger.add(Subject.killBacklog, .milliseconds, 90)
        #expect(Self.aim("delivery with the backlog, in libcurl alone", ledger)?.judgement == expected)
        #expect(Self.aim("kill -9 to first answer, backlog, ms", ledger)?.judgement == expected)
    }

    @Test func flatMeansThatTheRateInDIsKept() {
        var ledger = Ledger()
        ledger.add(Subject.backlog, .waiting, 1_100_000)
        ledger.add(Subject.enqueue(Self.wide), .ratio, 5)
        ledger.add(Subject.enqueue(Self.wide, "backlog"), .ratio, 4)
        #expect(Self.aim("enqueue 1x256, share kept with the backlog", ledger)?.value == 0.8)
        #expect(Self.aim("enqueue 1x256, share kept with the backlog", ledger)?.judgement == .met)
    }
}
