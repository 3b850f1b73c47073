import KleosCommandLine
import KleosModel
import KleosWire
import Testing

/// Each way in which nothing is delivered has words of its own.
@Suite("What status finds")
struct StatusDiagnosisTests {
    private static let now: Int64 = 1_796_000_000_000

    private func status(_ endpoint: EndpointRow? = nil, _ change: (inout StatusAnswer) -> Void = { _ in })
        -> StatusAnswer
    {
        var status = StatusAnswer(
            uptimeSeconds: 1, path: "/q/outbox.db", usedBytes: 1, limitBytes: 100, freeBytes: 1_000, floorBytes: 10,
            isAccepting: true, counts: [:], endpoints: endpoint.map { [$0] } ?? [], pendingNotices: 0)
        status.machine.timeMilliseconds = Self.now
        change(&status)
        return status
    }

    private func endpoint(_ cause: TroubleCause?, condition: String = "failing") -> EndpointRow {
        EndpointRow(
            name: "home", url: "https://scores.example:8443/api", condition: condition, cause: cause?.rawValue,
            reason: "words", sinceMilliseconds: Self.now - 60_000, lastSuccessMilliseconds: nil, lastError: nil,
            nextProbeMilliseconds: Self.now + 4_000, inFlight: 0, undelivered: 1, dead: 0,
            oldestUndeliveredMilliseconds: nil)
    }

    private func findings(_ status: StatusAnswer) -> [Finding] {
        StatusDiagnosis.findings(status, nowMilliseconds: Self.now)
    }

    @Test func nothingIsFoundWhereAllIsWell() {
        #expect(findings(status(endpoint(nil, condition: "up"))).isEmpty)
    }

    @Test(arguments: TroubleCause.allCases)
    func everyCauseHasItsSentence(_ cause: TroubleCause) throws {
        let isPaused = [TroubleCause.credentials, .rejecting, .paused, .unconfigured].contains(cause)
        let found = findings(status(endpoint(cause, condition: isPaused ? "paused" : "failing")))
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.cause == cause.rawValue)
        #expect(finding.text.hasPrefix("home (https://scores.example:8443/api) is "))
        #expect(finding.level > .note)
        #expect(!finding.advice.isEmpty)
        let others = TroubleCause.allCases.filter { $0 != cause }
        for other in others {
            let condition = finding.text.contains("paused") ? "paused" : "failing"
            #expect(findings(status(endpoint(other, condition: condition))).first?.text != finding.text)
        }
    }

    @Test func withoutANetworkThatIsWhatIsWrong() {
        for cause in [TroubleCause.dns, .unreachable, .timeout, .refused] {
            let found = findings(status(endpoint(cause)) { $0.machine.hasNetwork = false })
            #expect(found.map(\.cause) == ["no-network"])
        }
        var local = endpoint(.refused)
        local.url = "http://127.0.0.1:8484"
        #expect(findings(status(local) { $0.machine.hasNetwork = false }).map(\.cause) == ["refused"])
    }

    @Test func anExpiredCertificateMayBeTheClock() {
        let found = findings(status(endpoint(.certificateExpired)) { $0.machine.isClockSynchronized = false })
        #expect(found.first?.text.contains("or this machine's clock is wrong (it says 2026-") == true)
    }

    @Test func aClockIsWrongOnlyBehindWhatIsKnown() {
        #expect(findings(status { $0.machine.latestRecordedMilliseconds = Self.now + 299_000 }).isEmpty)
        #expect(
            findings(status { $0.machine.latestRecordedMilliseconds = Self.now + 301_000 }).map(\.cause) == ["clock"])
        let found = findings(status { $0.machine.timeMilliseconds = 0 })
        #expect(found.first?.text.contains("it says 1970-01-01T00:00:00.000Z, and kleos is younger than that") == true)
    }

    @Test func aCloneSaysBothWaysOut() {
        let found = findings(status { $0.machine.isClone = true })
        #expect(found.map(\.cause) == ["clone"])
        #expect(found.first?.advice.contains("kleos adopt") == true)
        #expect(found.first?.advice.contains("kleos reset") == true)
    }

    @Test func aFullQueueIsToldFromAFullDisk() {
        let queue = findings(status { ($0.isAccepting, $0.usedBytes) = (false, 100) })
        let disk = findings(status { ($0.isAccepting, $0.freeBytes) = (false, 9) })
        #expect(queue.map(\.cause) == ["queue-full"])
        #expect(disk.map(\.cause) == ["disk-full"])
        #expect(queue.first?.text.contains("MaximumSize=") == true)
        #expect(disk.first?.text.contains("KeepFree=") == true)
    }

    @Test func whatIsHeldSaysWhy() {
        for reason in [DeliveryReason.operatorHold, .unconfigured, .clone, .restored] {
            var row = endpoint(nil, condition: "up")
            (row.undelivered, row.counts, row.heldReasons) = (3, [.held: 3], [reason.rawValue])
            let all = findings(status(row))
            #expect(all.map(\.level) == [.warning])
            #expect(all.first?.text.hasPrefix("Everything that waits for home, 3 deliveries, is held: ") == true)
            row.undelivered = 4
            #expect(
                findings(status(row)).first?.text.hasPrefix("Of 4 undelivered deliveries for home, 3 are held: ")
                    == true)
        }
    }

    @Test func playersWhoAreThrottledAreNamedToThoseWhoMayKnow() {
        func text(_ names: [String?], of count: Int) -> String? {
            var row = endpoint(nil, condition: "up")
            row.throttleCount = count
            row.throttles = names.enumerated().map {
                PartialThrottle(scope: .player, name: $1, untilMilliseconds: Self.now + 3_600_000 - Int64($0))
            }
            let found = findings(status(row))
            #expect(found.map(\.cause) == ["throttled"])
            return found.first?.text
        }
        #expect(
            text(["ada"], of: 1)?.contains(
                " is throttled for 1 player (ada), as it asked: those deliveries wait until ") == true)
        #expect(text(["ada"], of: 1)?.hasSuffix("in 60 min. Others go on.") == true)
        #expect(text(["ada", "b\u{1B}b"], of: 14)?.contains(" for 14 players (ada, b") == true)
        #expect(text(["ada", "bob"], of: 14)?.contains("bob and 12 more), ") == true)
        #expect(text(["ada", "bob"], of: 14)?.hasSuffix("in 60 min at the latest. Others go on.") == true)
        #expect(text([nil, nil], of: 2)?.contains(" is throttled for 2 players, as it asked: ") == true)
    }

    @Test func boardsThatAreThrottledAreNamedWithTheirGames() throws {
        var row = endpoint(nil, condition: "up")
        row.throttleCount = 2
        row.throttles = ["asteroids", "tetris"].map {
            PartialThrottle(scope: .board, name: "best", game: $0, untilMilliseconds: Self.now + 60_000)
        }
        let text = try #require(findings(status(row)).first?.text)
        #expect(text.contains(" for 2 boards (best of asteroids and best of tetris), as it asked"))
    }

    @Test func nothingFromElsewhereMovesTheCursor() {
        var row = endpoint(nil)
        row.reason = "bad\u{1B}[2J"
        #expect(findings(status(row)).allSatisfy { !$0.text.contains("\u{1B}") })
    }
}
