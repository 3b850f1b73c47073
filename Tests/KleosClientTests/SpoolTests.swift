import Dispatch
import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

@testable import KleosClient

/// What becomes of events that no daemon answers.
@Suite("Client: the spool", .timeLimit(.minutes(30)))
struct SpoolTests {
    typealias Outcome = Result<SubmitReceipt, KleosError>

    let daemon: HandDaemon
    let outcomes = Collector<Outcome>()

    private var spool: String { String(daemon.path.dropLast("kleos.sock".count)) + "spool" }

    init() throws {
        daemon = try HandDaemon()
    }

    private func makeClient(requestTimeoutMilliseconds: Int = 60_000, socketPath: String? = nil) -> KleosClient {
        KleosClient(
            game: "minesweeper", player: "ada", socketPath: socketPath ?? daemon.path,
            requestTimeoutMilliseconds: requestTimeoutMilliseconds)
    }

    private func submit(_ value: Int64, with client: KleosClient) {
        client.submitScore(value, leaderboard: "beginner") { [outcomes] in outcomes.add($0) }
    }

    private func receipt(_ outcome: Outcome?) throws -> SubmitReceipt { try #require(outcome).get() }

    private func spooled() throws -> [Submission] {
        try Folder.names(in: spool).map { name in
            var submission = try SpoolFile.parse(try SmallFile.read(at: "\(spool)/\(name)")).submission
            // What only the spool knows is no part of what was submitted.
            #expect(submission.takenOverAtMilliseconds != nil)
            submission.takenOverAtMilliseconds = nil
            return submission
        }
    }

    @Test func spoolsAtOnceWhereNoDaemonIs() throws {
        try Folder.make(spool)
        let client = makeClient(socketPath: String(daemon.path.dropLast()) + "x")
        for value in 1...3 { submit(Int64(value), with: client) }
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
        let receipts = try outcomes.wait(for: 3).map { try $0.get() }
        #expect(receipts.map(\.state) == [.spooled, .spooled, .spooled])
        #expect(receipts.allSatisfy { $0.key == nil && $0.spoolFile == "\(spool)/\($0.id).json" })
        let events = try spooled()
        #expect(Set(events.map(\.value)) == ["1", "2", "3"])
        #expect(Set(events.map(\.clientID)) == Set(receipts.map(\.id)))
        #expect(events.allSatisfy { $0.occurredAtMilliseconds != nil })
        var information = stat()
        #expect(stat(try #require(receipts[0].spoolFile), &information) == 0)
        #expect(information.st_mode & 0o7777 == 0o640)
    }

    @Test func spoolsUnderTheSameIDWhatASilentDaemonNeverAnswers() throws {
        try Folder.make(spool)
        let client = makeClient(requestTimeoutMilliseconds: 50)
        submit(7, with: client)
        let silent = try daemon.accept()
        let request = try silent.next()
        let receipt = try receipt(outcomes.wait(for: 1).first)
        #expect(receipt.state == .spooled)
        let sent = try Submission.parse(request).submission
        #expect(try spooled() == [sent])
        #expect(receipt.id == sent.clientID)
        // The silent connection is given up, and the next does not repeat what is in the spool.
        try silent.waitForEnd()
        submit(8, with: client)
        #expect(try Submission.parse(try daemon.accept().next()).submission.value == "8")
        client.close()
    }

    @Test func keepsEventsInMemoryWhereNoSpoolIs() throws {
        let client = makeClient(requestTimeoutMilliseconds: 20)
        submit(1, with: client)
        let silent = try daemon.accept()
        let request = try silent.next()
        try silent.waitForEnd()
        // Where the answer comes too late for this client, it comes again.
        var talks: [Talk] = []
        while outcomes.all.isEmpty {
            guard Patience.until({ !daemon.isAlone || !outcomes.all.isEmpty }), !daemon.isAlone else { break }
            let talk = try daemon.accept()
            talks.append(talk)
            guard let again = try? talk.next() else { continue }
            #expect(again.parameters == request.parameters)
            try? talk.receipt(again, number: 1)
        }
        #expect(try receipt(outcomes.all.first).state == .accepted)
        #expect(access(spool, F_OK) != 0, "a client makes no spool")
    }

    @Test func questionsFailWithAnErrorOfTheirOwnWhenTheTimeIsOver() throws {
        let client = makeClient(requestTimeoutMilliseconds: 20)
        let answers = Collector<Result<[KleosStanding], KleosError>>()
        client.standing(leaderboard: "beginner") { answers.add($0) }
        let silent = try daemon.accept()
        _ = try silent.next()
        guard case .failure(.timedOut) = answers.wait(for: 1).first else {
            Issue.record("\(answers.all)")
            return
        }
        try silent.waitForEnd()
    }

    @Test(arguments: [ErrorReason.queueFull, .rateLimited, .unavailable])
    func spoolsWhatIsLeftWhenItIsClosed(reason: ErrorReason) throws {
        try Folder.make(spool)
        let client = makeClient()
        submit(1, with: client)
        let talk = try daemon.accept()
        let request = try talk.next()
        // Not now: the event would be handed over again.
        try talk.refuse(request, RPCError(reason, "not now"))
        submit(2, with: client)
        _ = try talk.next()
        let ended = Collector<Bool>()
        client.close(draining: 1) { ended.add($0) }
        #expect(ended.wait(for: 1) == [true])
        #expect(try outcomes.wait(for: 2).map { try $0.get().state } == [.spooled, .spooled])
        #expect(try spooled().compactMap(\.value).sorted() == ["1", "2"])
        try talk.waitForEnd()
    }

    @Test func drainsBeforeItCloses() throws {
        let client = makeClient()
        submit(1, with: client)
        let talk = try daemon.accept()
        let request = try talk.next()
        let ended = Collector<Bool>()
        client.close(draining: 60_000) { ended.add($0) }
        try talk.receipt(request, number: 1)
        #expect(ended.wait(for: 1) == [true])
        #expect(try receipt(outcomes.all.first).state == .accepted)
        try talk.waitForEnd()
    }

    @Test func saysWhenSomethingIsLostAtTheEnd() throws {
        let client = makeClient()
        submit(1, with: client)
        _ = try daemon.accept().next()
        let ended = Collector<Bool>()
        client.close(draining: 1) { ended.add($0) }
        #expect(ended.wait(for: 1) == [false])
        let looked = "no kleos daemon has made a spool (looked for \(spool))"
        #expect(
            outcomes.all
                == [.failure(.unanswered("the client was closed, and the event could not be spooled: \(looked)"))])
    }

    @Test(
        "On a full disk events are kept, nothing half is left, and they are spooled once there is room",
        .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
    func fullDisk() throws {
        let disk = try SmallDisk(kibibytes: 64)
        try disk.fill()
        let client = KleosClient(
            game: "minesweeper", player: "ada", socketPath: daemon.path + ".none", spoolFolder: disk.path)
        for value in 1...3 { submit(Int64(value), with: client) }
        // The client has tried by now, and goes on trying by itself.
        #expect(!client.waitUntilIdle(timeoutMilliseconds: 1))
        // What is half written at the moment of a try goes with it.
        let isClean = try Patience.until { try Folder.names(in: disk.path) == ["ballast"] }
        #expect(isClean)
        #expect(outcomes.all.isEmpty)
        disk.empty()
        #expect(client.waitUntilIdle(timeoutMilliseconds: 600_000))
        #expect(try outcomes.wait(for: 3).map { try $0.get().state } == [.spooled, .spooled, .spooled])
        #expect(try Folder.names(in: disk.path).count == 3)
    }

    @Test(
        "What a full disk keeps out to the end is said to be lost, and why",
        .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
    func fullDiskAtTheEnd() throws {
        let disk = try SmallDisk(kibibytes: 64)
        try disk.fill()
        let client = KleosClient(
            game: "minesweeper", player: "ada", socketPath: daemon.path + ".none", spoolFolder: disk.path)
        submit(1, with: client)
        let ended = Collector<Bool>()
        client.close(draining: 1) { ended.add($0) }
        #expect(ended.wait(for: 1) == [false])
        guard case .failure(.unanswered(let why))? = outcomes.wait(for: 1).first else {
            Issue.record("\(outcomes.all)")
            return
        }
        #expect(why.contains("the event could not be spooled: cannot write \(disk.path)/."), "\(why)")
        #expect(why.hasSuffix("No space left on device"), "\(why)")
        #expect(try Folder.names(in: disk.path) == ["ballast"])
    }

    @Test func nothingIsDoneOnTheCallersThread() throws {
        try Folder.make(spool)
        let client = makeClient()
        // The client's queue stands still: what now happens to socket or folder is the caller's doing.
        client.session.executor.queue.suspend()
        client.connect { _ in }
        client.setForeground(true)
        client.onNotice { _ in }
        client.onDelivery { _ in }
        for value in 1...100 { submit(Int64(value), with: client) }
        client.submitAchievement("first-win")
        client.standing { _ in }
        let later = makeClient(socketPath: daemon.path + ".none")
        later.session.executor.queue.suspend()
        submit(1, with: later)
        later.close(draining: 1_000) { _ in }
        later.close()
        #expect(daemon.isAlone)
        #expect(try Folder.names(in: spool) == [])
        #expect(outcomes.all.isEmpty)
        client.session.executor.queue.resume()
        later.session.executor.queue.resume()
        let methods = try daemon.accept().next(108).map(\.method)
        #expect(methods.count { $0 == "submit" } == 101)
        #expect(try receipt(outcomes.wait(for: 1).first).state == .spooled)
        client.close()
    }
}

/// Where clients look for spools.
@Suite("Client: the places of spools")
struct SpoolPathTests {
    private func candidates(_ sockets: [String], _ variables: [String: String]) -> [String] {
        KleosSpoolPaths.candidates(sockets: sockets) { variables[$0] }
    }

    @Test func eachSocketHasItsDaemonsSpool() {
        let home = ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(candidates(["/run/kleos/kleos.sock"], home) == ["/var/spool/kleos"])
        #expect(candidates(["/games/own/kleos.sock"], home) == ["/games/own/spool"])
        #expect(candidates(["kleos.sock"], home) == ["./spool"])
        let own = ["/run/user/1000/kleos/kleos.sock", "/home/ada/.local/share/kleos/kleos.sock"]
        #expect(candidates(own, home) == ["/home/ada/.local/state/kleos/spool"])
        #expect(
            candidates(own + ["/run/kleos/kleos.sock"], home.merging(["XDG_STATE_HOME": "/state"]) { $1 })
                == ["/state/kleos/spool", "/home/ada/.local/state/kleos/spool", "/var/spool/kleos"])
        #expect(candidates(own, ["KLEOS_SPOOL": "/elsewhere"]) == ["/elsewhere"])
    }
}
