import Testing

@testable import KleosNotify

@Suite("Which clicks are ours")
struct OwnBubblesTests {
    private func shown(_ ids: UInt32...) -> OwnBubbles {
        var own = OwnBubbles()
        for id in ids { own.didShow(id) }
        return own
    }

    @Test func aClickOnAnotherProgramsBubbleIsNone() {
        var own = shown(5)
        own.take(token: "theirs", of: 6)
        #expect(own.click(6) == nil)
        own.didShow(6)
        #expect(own.click(6) == DesktopClick(id: 6), "nor is what came with it ours later")
    }

    @Test func aTokenGoesWithItsOwnClickOnce() {
        var own = shown(1, 2)
        own.take(token: "a", of: 1)
        #expect(own.click(2) == DesktopClick(id: 2))
        #expect(own.click(1) == DesktopClick(id: 1, activationToken: "a"))
        #expect(own.click(1) == DesktopClick(id: 1))
    }

    @Test func afterARestartOfTheServiceOldNumbersMeanNothing() {
        var own = shown(1, 2)
        own.forgetAll()
        #expect(!own.contains(1))
        #expect(own.click(2) == nil)
    }

    @Test func theOldestOfTooManyAreForgotten() {
        var own = OwnBubbles()
        for id in 1...UInt32(OwnBubbles.maximumIDs + 2) { own.didShow(id) }
        #expect([1, 2, 3].map(own.contains) == [false, false, true])
    }
}
