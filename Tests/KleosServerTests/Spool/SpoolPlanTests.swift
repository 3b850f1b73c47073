import Testing

@testable import KleosServer

/// Which files are taken in next.
@Suite("Spool: the plan")
struct SpoolPlanTests {
    private func entry(_ name: String, uid: UInt32 = 1, bytes: Int = 100, isTaken: Bool = false) -> SpoolEntry {
        SpoolEntry(name: name.utf8CString.map { $0 }, uid: uid, bytes: bytes, isTaken: isTaken)
    }

    private func names(_ entries: [SpoolEntry]) -> [String] { entries.map(\.label) }

    @Test("One user's files go in the order of their names, what an earlier run took first")
    func order() {
        var plan = SpoolPlan()
        for name in ["c", "a", "b", "a"] { #expect(plan.add(entry(name)) == .held) }
        #expect(plan.add(entry("z~1", isTaken: true)) == .held)
        #expect(plan.waiting == 4)
        #expect(names(plan.next(limit: 10, nowMilliseconds: 0)) == ["z~1", "a", "b", "c"])
        #expect(plan.next(limit: 10, nowMilliseconds: 0).isEmpty)
    }

    @Test("S-74: users take turns, however many files one of them has")
    func fairness() {
        var plan = SpoolPlan()
        for number in 0..<200 { _ = plan.add(entry("many\(number)", uid: 1)) }
        _ = plan.add(entry("one", uid: 2))
        _ = plan.add(entry("only", uid: 3))
        #expect(Set(plan.next(limit: 3, nowMilliseconds: 0).map(\.uid)) == [1, 2, 3])
    }

    @Test("Of one user so many names are held, the smallest; the folder is listed again for the rest")
    func held() {
        var plan = SpoolPlan(limits: .init(heldPerUser: 3))
        for name in ["e", "d", "c", "b", "a"] { _ = plan.add(entry(name)) }
        #expect(plan.waiting == 5)
        #expect(!plan.isListingNeeded)
        let first = plan.next(limit: 10, nowMilliseconds: 0)
        #expect(names(first) == ["a", "b", "c"])
        #expect(plan.isListingNeeded)
        for done in first { plan.finished(done, isRecorded: true) }
        plan.listingBegins()
        for name in ["d", "e"] { #expect(plan.add(entry(name)) == .held) }
        #expect(names(plan.next(limit: 10, nowMilliseconds: 0)) == ["d", "e"])
        #expect(!plan.isListingNeeded)
    }

    @Test("S-74: held names are limited in all, and a flood of one user leaves the others theirs")
    func heldInAll() {
        var plan = SpoolPlan(limits: .init(heldPerUser: 4, held: 6))
        for uid in 1...4 as ClosedRange<UInt32> {
            for number in 0..<10 { _ = plan.add(entry("f\(number)", uid: uid)) }
        }
        #expect(plan.waiting == 40)
        var seen: Set<SpoolEntry> = []
        var listings = 0
        while listings < 40 {
            let batch = plan.next(limit: 8, nowMilliseconds: 0)
            for done in batch { plan.finished(done, isRecorded: true) }
            seen.formUnion(batch)
            if !batch.isEmpty { continue }
            guard plan.isListingNeeded else { break }
            listings += 1
            plan.listingBegins()
            for uid in 1...4 as ClosedRange<UInt32> {
                for number in 0..<10 where !seen.contains(entry("f\(number)", uid: uid)) {
                    _ = plan.add(entry("f\(number)", uid: uid))
                }
            }
        }
        #expect(seen.count == 40)
    }

    @Test("S-74: a user over the share is told so, by number and by bytes; the others are not")
    func share() {
        var plan = SpoolPlan(limits: .init(heldPerUser: 2, filesPerUser: 3, bytesPerUser: 1_000))
        #expect(["a", "b", "c"].map { plan.add(entry($0)) } == [.held, .held, .left])
        #expect(plan.add(entry("d")) == .overShare)
        #expect(plan.add(entry("d", uid: 2, bytes: 900)) == .held)
        #expect(plan.add(entry("e", uid: 2, bytes: 101)) == .overShare)
        #expect(plan.add(entry("e", uid: 2, bytes: 100)) == .held)
        #expect(plan.add(entry("f", uid: 3)) == .held)
    }

    @Test("Who was told to wait waits, longer each time, and goes on where it was; others do not wait")
    func pauses() throws {
        var plan = SpoolPlan()
        _ = plan.add(entry("a"))
        _ = plan.add(entry("b"))
        _ = plan.add(entry("c", uid: 2))
        var now: Int64 = 0
        for pause in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [Int64] {
            let batch = plan.next(limit: 10, nowMilliseconds: now).filter { $0.uid == 1 }
            #expect(batch.first?.label.hasPrefix("a") == true)
            for file in batch {
                let place = entry(file.isTaken ? file.label : "\(file.label)~1", isTaken: true)
                plan.postponed(file, now: place, because: "the disk is full", nowMilliseconds: now)
            }
            #expect(plan.nextTry(nowMilliseconds: now) == now + pause)
            #expect(plan.reasons == [1: "the disk is full"])
            #expect(plan.next(limit: 10, nowMilliseconds: now + pause - 1).isEmpty)
            now += pause
        }
        let batch = plan.next(limit: 10, nowMilliseconds: now)
        #expect(names(batch) == ["a~1", "b~1"])
        for file in batch { plan.finished(file, isRecorded: true) }
        #expect(plan.reasons.isEmpty)
        #expect(plan.nextTry(nowMilliseconds: now) == nil)
    }
}
