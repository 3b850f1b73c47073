import Dispatch
import KleosJSON
import KleosSupport
import KleosTestSupport
import KleosWire
import Synchronization
import Testing

/// What the commands for operators ask and show on a real terminal.
@Suite(
    "An operator's terminal", .enabled(if: TerminalHarness.isAvailable, "tmux is not installed"),
    .timeLimit(.minutes(5)))
struct OperatorTerminalTests {
    private static let kleos = BuiltPrograms.path("kleos")

    // MARK: Questions

    @Test("forget asks, and erases only on a yes")
    func asks() throws {
        let scenario = try Scenario()
        try scenario.daemon.start()
        try scenario.kleos("pause", "home")
        for player in ["ada", "bob"] { try scenario.daemonSubmit(player: player, value: 9_000) }
        let command = "\(Self.kleos) forget ada --private '\(scenario.daemon.folder.path)'"
        let terminal = try TerminalHarness("\(command); \(command); \(command); echo ended $?; exec cat")
        let question = "Erase all events of the player ada in all games for good? [y/N]"
        for answer in ["Enter", "n"] {
            try terminal.wait(for: question)
            try terminal.type(answer == "Enter" ? ["Enter"] : [answer, "Enter"])
            let count = answer == "Enter" ? 1 : 2
            let screen = try terminal.wait(for: "\(count + 1) questions") { screen in
                screen.split(separator: question, omittingEmptySubsequences: false).count == count + 2
            }
            #expect(screen.split(separator: "nothing is erased", omittingEmptySubsequences: false).count == count + 1)
            #expect(try scenario.rows("list").count == 2)
        }
        try terminal.type("y", "Enter")
        let end = try terminal.wait(for: "ended 0")
        #expect(end.contains("1 event, 0 notices, 1 standing and 0 sign-ins erased"), "\(end)")
        #expect(try scenario.rows("list").map { $0["player"]?.stringValue } == ["bob"])
    }

    // MARK: Progress

    /// A daemon that stops in the midst of its work until the test has seen the screen.
    private final class Worker: Sendable {
        let reached = DispatchSemaphore(value: 0)
        let released = DispatchSemaphore(value: 0)

        func pause() {
            reached.signal()
            released.wait()
        }
    }

    /// Says that something comes for the first time.
    private final class Once: Sendable {
        private let hasCome = Atomic(false)

        func isFirst() -> Bool { !hasCome.exchange(true, ordering: .relaxed) }
    }

    /// Runs a command against a daemon that pauses once, and expects its bar at `percent` then, and nothing of it at
    /// the end, when the screen shows `result`.
    private func expectBar(
        _ arguments: String, _ bar: String, thenOnly result: String, in folder: TemporaryFolder,
        notified message: ProgressMessage? = nil,
        answer: @escaping @Sendable (_ pause: () -> Void, Method, JSONObject) -> JSONValue
    ) throws {
        let worker = Worker()
        let daemon = try ScriptedDaemon(folder: folder.path) { method, parameters in
            .success(answer(worker.pause, method, parameters))
        }
        defer { daemon.stop() }
        let terminal = try TerminalHarness("\(Self.kleos) \(arguments) --private '\(folder.path)'; exec cat")
        #expect(worker.reached.wait(timeout: Patience.end) == .success)
        if let message { daemon.notify(ProgressMessage.method, message.json) }
        defer { worker.released.signal() }
        let during = try terminal.wait(for: "%")
        #expect(during.contains(bar), "\(during)")
        worker.released.signal()
        let end = try terminal.wait(for: result)
        #expect(!end.contains("%") && !end.contains("["), "\(end)")
    }

    @Test("export shows how far it has come, and leaves no trace of that")
    func exportBar() throws {
        let folder = try TemporaryFolder()
        let line: JSONValue = ["event": ["key": "0193764f-2f4b-7c5a-8a6e-0123456789ab"]]
        try expectBar(
            "export '\(folder.path("queue"))'", "exporting [#####...............] 25 %", thenOnly: "2 events exported",
            in: folder
        ) { pause, _, parameters in
            let isFirst = parameters["cursor"] == nil
            if !isFirst { pause() }
            return ExportAnswer(lines: [line], cursor: isFirst ? "on" : nil, done: isFirst ? 1 : 4, total: 4).json
        }
        #expect(try Folder.names(in: folder.path).filter { $0.hasPrefix("queue") } == ["queue"])
    }

    @Test("import shows how far it has come, and leaves no trace of that")
    func importBar() throws {
        let folder = try TemporaryFolder()
        let head = "{\"kleos\":\"export\",\"version\":1,\"held\":true}\n"
        let line = "{\"event\":{\"text\":\"\(String(repeating: "x", count: 1_000))\"}}\n"
        // Several times as large as what is read at once.
        let count = 1_048
        let text = head + String(repeating: line, count: count) + "{\"end\":true,\"events\":\(count)}\n"
        try SmallFile.replace(folder.path("queue"), with: Array(text.utf8))
        let read = 100 * (256 << 10) / text.utf8.count
        let filled = String(repeating: "#", count: read / 5) + String(repeating: ".", count: 20 - read / 5)
        let once = Once()
        try expectBar(
            "import '\(folder.path("queue"))'", "importing [\(filled)] \(read) %",
            thenOnly: "\(count) events brought over, 0 already there", in: folder
        ) { pause, _, parameters in
            if once.isFirst() { pause() }
            return ImportAnswer(brought: parameters["lines"]?.arrayValue?.count ?? 0).json
        }
    }

    @Test(
        "Work of the daemon's shows how far it has come, and leaves no trace of that",
        arguments: [
            ("salvage old.db", "salvage", "reading the queue", "3 events brought over, 1 already there, 0 unreadable"),
            ("backup", "backup", "copying the queue", "/q/backup.db, 2 KiB, checked and whole"),
            ("forget ada --yes", "forget", "erasing", "1 event, 0 notices, 2 standings and 1 sign-in erased"),
        ])
    func daemonsBar(arguments: String, task: String, words: String, result: String) throws {
        try expectBar(
            arguments, "\(words) [##########..........] 50 %", thenOnly: result, in: try TemporaryFolder(),
            notified: ProgressMessage(task: task, done: 2, total: 4)
        ) { pause, _, _ in
            pause()
            return [
                "brought": 3, "known": 1, "path": "/q/backup.db", "bytes": 2_048, "events": 1, "standings": 2,
                "accounts": 1, "rewritten": true,
            ]
        }
    }
}
