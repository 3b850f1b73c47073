import KleosSupport
import KleosTestSupport
import Testing

@Suite struct ClockTests {
    @Test func readsAllClocksForwardAndInTheirUnits() {
        let clock = SystemClock()
        let first = clock.read()
        let fine = clock.monotonicNanoseconds
        let second = clock.read()
        #expect(first.wallMilliseconds > 1_700_000_000_000 && first.wallMilliseconds < 10_000_000_000_000)
        #expect(second.monotonicMilliseconds >= first.monotonicMilliseconds)
        #expect((first.monotonicMilliseconds...second.monotonicMilliseconds).contains(fine / 1_000_000))
        #expect(second.bootMilliseconds >= first.bootMilliseconds)
        #expect(first.bootMilliseconds >= first.monotonicMilliseconds - 1, "suspended time counts only there")
        #expect(first.bootID == second.bootID && !first.bootID.contains { $0.isWhitespace })
    }

    @Test func aClockWithoutAFineReadingCountsInMilliseconds() {
        let clock = ManualClock(bootMilliseconds: 5)
        #expect(clock.monotonicNanoseconds == 5_000_000)
        clock.suspend(milliseconds: 7)
        #expect(clock.monotonicNanoseconds == 5_000_000)
        #expect(clock.read().bootMilliseconds == 12)
    }

    @Test func aSeedGivesItsSequence() {
        // The first numbers of SplitMix64 from 0, as its authors publish them.
        var random = SeededGenerator(seed: 0)
        #expect(random.next() == 0xE220_A839_7B1D_CDAF)
        #expect(random.next() == 0x6E78_9E6A_A1B9_65F4)
        var (one, other) = (SeededGenerator(seed: 7), SeededGenerator(seed: 8))
        #expect(one.next() != other.next())
        var (first, second) = (SeededGenerator.unpredictable(), SeededGenerator.unpredictable())
        #expect(first.next() != second.next())
    }
}
