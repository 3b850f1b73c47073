import KleosClient
import Testing

/// The times by which files of one process are put in order.
@Suite("Spool: moments")
struct SpoolMomentsTests {
    @Test("However many there are at once, each is later than the one before")
    func order() {
        var moments = SpoolMoments()
        let times = (0..<20_000).map { moments.next(1_796_000_000_000 + Int64($0 / 100)) }
        #expect(times.first == 1_796_000_000_000)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // What ran ahead is caught up with.
        #expect(moments.next(1_796_000_100_000) == 1_796_000_100_000)
    }

    @Test("A clock that wavers breaks no order; one that is set back is right")
    func setBack() {
        var moments = SpoolMoments()
        #expect(moments.next(10_000) == 10_000)
        #expect(moments.next(9_500) == 10_001)
        #expect(moments.next(9_600) == 10_002)
        #expect(moments.next(2_000) == 2_000)
        #expect(moments.next(2_000) == 2_001)
    }
}
