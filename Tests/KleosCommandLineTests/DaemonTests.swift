import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire
import Synchronization
import Testing

@Suite("Commands that talk to a daemon")
struct DaemonTests {
    private let folder: TemporaryFolder
    private static let key = "0193764f-2f4b-7c5a-8a6e-0123456789ab"

    init() throws {
        folder = try TemporaryFolder()
    }

    private func daemon(_ results: [Method: JSONValue]) throws -> ScriptedDaemon {
        try ScriptedDaemon(folder: folder.path) { method, _ in
            results[method].map(Result.success) ?? .failure(RPCError(.notPermitted, "this is not for you"))
        }
    }

    private func run(_ arguments: [String], input: String = "", isTerminal: Bool = false) -> CommandRun {
        CommandRun(arguments + ["--private", folder.path], input: input, isTerminal: isTerminal)
    }

    private static let row: JSONValue = [
        "key": .string(key), "endpoint": "home", "state": "ready", "game": "minesweeper", "player": "ada",
        "kind": "score", "leaderboard": "beginner", "value": "12345", "recordedAt": "2026-11-29T23:57:00.000Z",
        "attempts": 3, "nextAttemptAt": "2026-11-30T00:00:04.000Z",
    ]

    @Test func aSubmissionAlwaysHasAnId() throws {
        let daemon = try daemon([.submit: ["key": .string(Self.key), "state": "accepted", "duplicate": false]])
        defer { daemon.stop() }
        let run = run(["submit", "score", "minesweeper", "beginner", "12345", "--player", "ada"])
        #expect(run.code == 0)
        #expect(run.output == "accepted \(Self.key)\n")
        let parameters = try #require(daemon.requests.first?.parameters)
        #expect(parameters["value"] == "12345")
        #expect(parameters["player"] == "ada")
        let id = try #require(parameters["id"]?.stringValue.flatMap(EventKey.init))
        #expect(id.high >> 16 == UInt64(CommandRun.clock.nowMilliseconds))
    }

    @Test func linesArePipelinedAndBadOnesAreReportedWithTheirNumber() throws {
        let daemon = try daemon([.submit: ["key": .string(Self.key), "state": "superseded", "duplicate": false]])
        defer { daemon.stop() }
        let lines =
            (0..<300).map { "{\"kind\":\"score\",\"value\":\($0).50}" } + ["{\"a\":1,}", "[]", "", "{\"id\":\"x\"}"]
        let run = run(["submit", "-"], input: lines.joined(separator: "\n"))
        #expect(run.code == 65)
        #expect(run.output.hasSuffix("301 events accepted, 2 refused\n"))
        #expect(run.errors.contains("kleos: line 301: the line is no JSON"))
        #expect(run.errors.contains("kleos: line 302: the line is no JSON object"))
        #expect(daemon.requests.count == 301)
        #expect(daemon.requests[7].parameters["value"] == .number(JSONNumber(text: "7.50")))
        #expect(daemon.requests[300].parameters["id"] == "x")
        #expect(daemon.requests[0].parameters["id"] != nil)
    }

    @Test func whatNamesNoTimeSaysWhenItWasRead() throws {
        let daemon = try daemon([.submit: ["key": .string(Self.key), "state": "accepted", "duplicate": false]])
        defer { daemon.stop() }
        let now = JSONValue.string(Timestamp.text(milliseconds: CommandRun.clock.nowMilliseconds))
        let lines = "{\"a\":1}\n{\"occurredAt\":1}\n{\"spooledAt\":2}\n"
        #expect(run(["submit", "-"], input: lines).code == 0)
        #expect(run(["submit", "score", "g", "b", "1"]).code == 0)
        #expect(run(["submit", "score", "g", "b", "1", "--occurred-at", "1970-01-01T00:00:01Z"]).code == 0)
        #expect(daemon.requests.map { $0.parameters["spooledAt"] } == [now, nil, 2, now, nil])
        #expect(daemon.requests.map { $0.parameters["occurredAt"] != nil } == [false, true, false, false, true])
    }

    @Test func spooledLinesKeepTheirOrder() throws {
        try Folder.make(folder.path("spool"))
        let lines = (0..<100).map { "{\"kind\":\"score\",\"game\":\"g\",\"leaderboard\":\"b\",\"value\":\($0)}" }
        #expect(run(["submit", "-"], input: lines.joined(separator: "\n")).code == 0)
        let files = try Folder.names(in: folder.path("spool")).map { name in
            try SpoolFile.parse(SmallFile.read(at: folder.path("spool/\(name)")))
        }
        let inOrder = files.sorted { $0.spooledAtMilliseconds ?? 0 < $1.spooledAtMilliseconds ?? 0 }
        #expect(inOrder.map(\.submission.value) == (0..<100).map(String.init))
        #expect(Set(files.map(\.spooledAtMilliseconds)).count == 100)
    }

    /// What writes the lines may pause for long: what it wrote is answered meanwhile.
    @Test func linesAreAnsweredWhileTheInputPauses() throws {
        let daemon = try daemon([.submit: ["key": .string(Self.key), "state": "accepted", "duplicate": false]])
        defer { daemon.stop() }
        let pauses = CommandRun.Pauses()
        let run = CommandRun(
            ["submit", "-", "--private", folder.path], input: "{\"a\":1}\n{\"a\":2}\n", pauses: pauses)
        #expect(run.code == 0)
        #expect(pauses.outputs.last == "accepted \(Self.key)\naccepted \(Self.key)\n")
    }

    @Test(
        arguments: [
            (0, "0 deliveries go on", "0 events brought over", nil),
            (1, "1 delivery goes on", "1 event brought over", "1 event stays behind"),
            (2, "2 deliveries go on", "2 events brought over", "2 events stay behind"),
        ] as [(Int64, String, String, String?)])
    func sentencesFitTheirNumbers(count: Int64, adopted: String, brought: String, behind: String?) throws {
        let salvaged: JSONValue = ["brought": .integer(count), "aimless": .integer(count)]
        let daemon = try daemon([
            .adopt: ["changed": .integer(count)], .salvage: salvaged, .importEvents: salvaged, .subscribe: [:],
            .status: ["counts": ["waiting": .integer(count)]],
        ])
        defer { daemon.stop() }
        #expect(run(["adopt"]).output == "the queue is this machine's; \(adopted)\n")
        let export = "{\"kleos\":\"export\",\"version\":1}\n{\"event\":{}}\n{\"end\":true,\"events\":\(count * 2)}\n"
        for run in [run(["salvage", "old.db"]), run(["import"], input: export)] {
            #expect(run.code == 0)
            #expect(run.output.hasPrefix(brought))
            #expect(run.output.contains("behind") == (behind != nil))
            if let behind { #expect(run.output.contains(behind)) }
        }
    }

    @Test func anExportIsWholeOrNotThere() throws {
        let asked = Fails()
        let daemon = try ScriptedDaemon(folder: folder.path) { _, parameters in
            if parameters["cursor"] != nil { return .failure(RPCError(.unavailable, "stopping")) }
            return .success(ExportAnswer(lines: [["event": [:]]], cursor: asked.next(), done: 1, total: 2).json)
        }
        defer { daemon.stop() }
        let path = folder.path("queue")
        // What is there already is neither followed nor written to.
        try SmallFile.replace("\(path).part", with: [], mode: 0o666)
        #expect(run(["export", path]).code == 75)
        #expect(try Folder.names(in: folder.path).filter { $0.hasPrefix("queue") } == [])
        #expect(run(["export", path, "--json"]).output == "{\"events\":1,\"held\":false}\n")
        #expect(try Folder.names(in: folder.path).filter { $0.hasPrefix("queue") } == ["queue"])
        #expect(run(["export", folder.path]).code == 64)
    }

    /// The cursor of an answer: one the first time, none after that.
    private final class Fails: Sendable {
        private let count = Atomic(0)

        func next() -> String? { count.add(1, ordering: .relaxed).oldValue == 0 ? "on" : nil }
    }

    @Test func aFullPageOfNoticesSaysThatThereMayBeMore() throws {
        var notice = Self.row.objectValue ?? JSONObject()
        notice["number"] = 7
        notice["createdAt"] = "2026-11-29T23:57:00.000Z"
        let daemon = try daemon([.notices: ["notices": [.object(notice)]]])
        defer { daemon.stop() }
        #expect(run(["notices"]).output.hasSuffix("\n1 notice\n"))
        #expect(
            run(["notices", "--limit", "1"]).output.hasSuffix(
                "\n1 notice (there may be more; --limit says how many to list)\n"))
    }

    @Test func aListIsATableWithAFooter() throws {
        let daemon = try daemon([.hello: [:], .list: ["deliveries": [Self.row]]])
        defer { daemon.stop() }
        let run = run(["list", "--state", "ready,waiting", "--game", "minesweeper"])
        #expect(
            run.output == """
                KEY       STATE  GAME         PLAYER  WHAT            ENDPOINT  ATTEMPTS  AGE            NEXT
                456789ab  ready  minesweeper  ada     beginner 12345  home             3  3 minutes ago  in 4 s

                1 delivery: 1 ready

                """)
        #expect(daemon.requests.last?.parameters["states"] == ["ready", "waiting"])
        // The daemon takes this user for an operator.
        #expect(daemon.requests.map(\.method) == [.hello, .list])
        #expect(daemon.requests.map(\.socket) == ["control.sock", "control.sock"])
    }

    @Test func pagesAreFollowedUpToTheLimit() throws {
        let daemon = try daemon([.list: ["deliveries": [Self.row, Self.row], "cursor": "next"]])
        defer { daemon.stop() }
        let run = run(["list", "--limit", "3", "--json"])
        #expect(run.output.split(separator: "\n").count == 3)
        #expect(daemon.requests.filter { $0.method == .list }.map { $0.parameters["limit"]?.int64Value } == [3, 1])
        #expect(daemon.requests.last?.parameters["cursor"] == "next")
    }

    @Test func showPrintsTheReceipt() throws {
        var delivery = Self.row.objectValue ?? JSONObject()
        delivery["state"] = "dead"
        delivery["reason"] = "rejected"
        delivery["message"] = "the board is closed"
        delivery["receipt"] = [
            [
                "number": 1, "at": "2026-11-29T23:58:00.000Z", "durationMilliseconds": 12, "outcome": "permanent",
                "status": 422, "error": "the endpoint refused it", "answer": "{\"error\":\"closed\"}",
            ]
        ]
        let daemon = try daemon([
            .list: ["deliveries": [Self.row]], .show: ["event": Self.row, "deliveries": [.object(delivery)]],
        ])
        defer { daemon.stop() }
        let run = run(["show", "456789AB"])
        #expect(daemon.requests.last?.parameters["key"] == .string(Self.key))
        #expect(run.output.contains("To home: dead (rejected)"))
        #expect(run.output.contains("Why: the board is closed"))
        #expect(run.output.contains("#1  2026-11-29T23:58:00.000Z  permanent, HTTP 422 after 12 ms"))
        #expect(run.output.contains("answer: {\"error\":\"closed\"}"))
    }

    @Test func anUnknownEndOfAKeyIsSaid() throws {
        let daemon = try daemon([.list: ["deliveries": [Self.row]]])
        defer { daemon.stop() }
        #expect(run(["show", "ffff"]).errors.hasPrefix("kleos: no event's key ends in ffff"))
        #expect(run(["show", "xyz"]).code == 65)
    }

    @Test func operatingGoesToTheControlSocket() throws {
        let unchanged: JSONValue = ["key": .string(Self.key), "reason": "it is in flight"]
        let daemon = try daemon([.discard: ["changed": 2, "unchanged": [unchanged]], .pause: [:]])
        defer { daemon.stop() }
        let discarded = run(["discard", Self.key, "--yes"])
        #expect(discarded.output == "2 deliveries discarded\n")
        #expect(discarded.errors == "kleos: \(Self.key) stays as it is: it is in flight\n")
        #expect(run(["pause", "home", "--reason", "tea"]).output == "home is paused\n")
        #expect(daemon.requests.map(\.socket) == ["control.sock", "control.sock"])
    }

    /// What an operator names may be anybody's, and the other socket has one's own alone.
    @Test func theEndOfAKeyIsLookedForWhereTheEventsOfAllAre() throws {
        let daemon = try daemon([.list: ["deliveries": [Self.row]], .retry: ["changed": 1, "unchanged": []]])
        defer { daemon.stop() }
        #expect(run(["retry", "456789ab"]).output == "1 delivery will be tried again\n")
        #expect(daemon.requests.map(\.method) == [.list, .retry])
        #expect(daemon.requests.map(\.socket) == ["control.sock", "control.sock"])
    }

    @Test func discardingAsksOnATerminal() throws {
        let daemon = try daemon([.discard: ["changed": 1, "unchanged": []]])
        defer { daemon.stop() }
        let refused = run(["discard", "--state", "dead"], input: "n\n", isTerminal: true)
        #expect(refused.errors == "Discard all deliveries with dead for good? [y/N] ")
        #expect(daemon.requests.isEmpty)
        let agreed = run(["discard", "--state", "dead", "--no-color"], input: "y\n", isTerminal: true)
        #expect(agreed.output == "1 delivery discarded\n")
    }

    @Test func aRefusalHasReasonHintAndExitCode() throws {
        let daemon = try daemon([:])
        defer { daemon.stop() }
        let run = run(["flush"])
        #expect(run.code == 77)
        #expect(run.errors.hasPrefix("kleos: this is not for you (not-permitted)\n  "))
    }

    @Test func noDaemonNamesTheSocketsTried() {
        let run = CommandRun(["status"], environment: ["HOME": "/nowhere", "XDG_RUNTIME_DIR": "/nowhere/run"])
        #expect(run.code == 69)
        for path in ["/nowhere/run/kleos/kleos.sock", "/nowhere/.local/share/kleos/kleos.sock"] {
            #expect(run.errors.contains("cannot connect to \(path): No such file or directory"))
        }
        #expect(run.errors.contains("start one"))
    }

    @Test func watchingEndsWhenNothingIsLeft() throws {
        let empty: JSONValue = ["counts": ["delivered": 12, "held": 1]]
        let daemon = try daemon([.subscribe: [:], .status: empty])
        defer { daemon.stop() }
        let run = run(["watch", "--until-empty", "--timeout", "600"])
        #expect(run.code == 0)
        #expect(run.output == "13 deliveries: 12 delivered, 1 held\n")
    }

    @Test func aDaemonThatGoesAwayIsUnavailable() throws {
        let daemon = try ScriptedDaemon(folder: folder.path) { _, _ in .failure(RPCError(.unavailable, "stopping")) }
        defer { daemon.stop() }
        #expect(run(["status"]).code == 75)
    }

    @Test func whatADaemonCannotTakeNowIsSpooledWhereASpoolIs() throws {
        let daemon = try ScriptedDaemon(folder: folder.path) { _, _ in .failure(RPCError(.unavailable, "stopping")) }
        defer { daemon.stop() }
        let command = ["submit", "score", "g", "b", "1", "--id", "one"]
        let kept = run(command)
        #expect(kept.code == 75)
        #expect(kept.errors.contains("nor can the event be spooled"))
        try Folder.make(folder.path("spool"))
        let spooled = run(command)
        #expect(spooled.code == 0)
        #expect(spooled.output.hasPrefix("spooled one in \(folder.path("spool"))/"))
        #expect(try Folder.names(in: folder.path("spool")).count == 1)
    }

    @Test func statusShowsWhatIsWrong() throws {
        let endpoint: JSONValue = [
            "name": "home", "url": "http://127.0.0.1:1", "condition": "failing", "cause": "refused",
            "reason": "connection refused",
            "since": "2026-11-29T22:00:00.000Z", "undelivered": 12, "dead": 0, "inFlight": 0,
            "oldestUndeliveredAt": "2026-11-29T21:00:00.000Z", "nextProbeAt": "2026-11-30T00:00:30.000Z",
        ]
        let storage: JSONValue = ["path": "/q", "usedBytes": 4096, "limitBytes": 8192, "acceptance": "queue-full"]
        let status: JSONValue = [
            "version": "0.1.0", "uptimeSeconds": 7200, "storage": storage, "counts": ["ready": 12],
            "endpoints": [endpoint], "notices": ["pending": 1],
        ]
        let daemon = try daemon([.status: status])
        defer { daemon.stop() }
        let output = run(["status"]).output
        #expect(output.hasPrefix("kleosd 0.1.0, up for 2 hours\n12 deliveries: 12 ready\n1 notice to tell\n"))
        #expect(output.contains("New events are refused (queue-full)"))
        #expect(output.contains("home      failing             12     0  3 hours ago  never         in 30 s"))
        #expect(output.contains("home (http://127.0.0.1:1) is failing for 2 hours: 127.0.0.1:1 refuses"))
        #expect(output.contains("last error: connection refused"))
        #expect(output.contains("kleos tries again by itself, next in 30 s."))
    }
}
