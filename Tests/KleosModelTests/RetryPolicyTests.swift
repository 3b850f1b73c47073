import KleosModel
import KleosSupport
import Testing

/// Delays grow with the attempts, are spread over their whole range, and stay within their limits.
@Suite struct RetryPolicyTests {
    @Test(
        arguments: [
            (0, 2_000), (1, 2_000), (2, 4_000), (3, 8_000), (8, 256_000), (11, 2_048_000), (12, 3_600_000),
            (13, 3_600_000), (40, 3_600_000), (41, 3_600_000), (64, 3_600_000), (1_000_000, 3_600_000),
            (.max, 3_600_000),
        ] as [(Int, Int64)])
    func ceilingDoublesUpToTheCap(attempts: Int, ceiling: Int64) {
        let policy = RetryPolicy()
        var random = SeededGenerator(seed: 9)
        let delays = (0..<2_000).map { _ in policy.delayMilliseconds(attemptsMade: attempts, random: &random) }
        #expect(delays.allSatisfy { (250...ceiling).contains($0) })
        // So many draws come near both ends.
        #expect((delays.min() ?? .max) < 250 + ceiling / 50)
        #expect((delays.max() ?? 0) > ceiling - ceiling / 50)
    }

    @Test(arguments: [1, 5, 12, 1_000])
    func isJitteredOverTheWholeRangeAlsoAtTheCap(attempts: Int) {
        let policy = RetryPolicy()
        let ceiling = min(3_600_000, 2_000 << min(attempts - 1, 20))
        var random = SeededGenerator(seed: 11)
        let delays = (0..<4_000).map { _ in policy.delayMilliseconds(attemptsMade: attempts, random: &random) }
        // Each tenth of the range gets its share, give or take a half.
        let width = Double(ceiling - 250) / 10
        for tenth in 0..<10 {
            let lower = 250 + width * Double(tenth)
            let count = delays.count { (lower..<(lower + width)).contains(Double($0)) }
            #expect((200...600).contains(count), "\(count) in tenth \(tenth)")
        }
    }

    @Test(arguments: [1, 2, 41, 63, 64, 65, Int.max])
    func neverOverflows(attempts: Int) {
        let policy = RetryPolicy(baseMilliseconds: .max / 3, capMilliseconds: .max, floorMilliseconds: 1)
        var random = SeededGenerator(seed: 2)
        let greatest = (0..<100).map { _ in policy.delayMilliseconds(attemptsMade: attempts, random: &random) }.max()
        #expect(greatest ?? 0 > (attempts == 1 ? .max / 4 : .max / 2))
    }

    @Test(arguments: [1, 2, 50])
    func mayBeFixed(attempts: Int) {
        let policy = RetryPolicy(baseMilliseconds: 500, capMilliseconds: 500, floorMilliseconds: 500)
        var random = SeededGenerator(seed: 1)
        #expect(policy.delayMilliseconds(attemptsMade: attempts, random: &random) == 500)
    }

    @Test(
        arguments: [
            (-5, 250, 1_250), (0, 250, 1_250), (1, 250, 1_250), (5_000, 5_000, 6_000), (60_000, 60_000, 66_000),
            (86_400_000, 86_400_000, 95_040_000), (86_400_001, 86_400_000, 95_040_000),
            (.max, 86_400_000, 95_040_000), (.min, 250, 1_250),
        ] as [(Int64, Int64, Int64)])
    func aServersWishIsJitteredUpwardsOnly(wish: Int64, least: Int64, greatest: Int64) {
        let policy = RetryPolicy()
        var random = SeededGenerator(seed: 5)
        let delays = (0..<500).map { _ in policy.delayMilliseconds(retryAfterMilliseconds: wish, random: &random) }
        #expect(delays.allSatisfy { (least...greatest).contains($0) })
        #expect(Set(delays).count > 100)
        #expect((delays.min() ?? .max) < least + (greatest - least) / 50)
        #expect((delays.max() ?? 0) > greatest - (greatest - least) / 50)
    }
}
