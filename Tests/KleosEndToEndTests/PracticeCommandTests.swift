import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// `kleos practice` as somebody with a game would use it.
@Suite("Practice runs")
struct PracticeCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(prefix: "practicing")
        try write(
            "mygame.conf",
            """
            [Game]
            Title=My Game
            Endpoints=somewhere
            Confirms=somewhere
            Player=mira

            [Leaderboard points]
            Maximum=1000

            [Achievement first-blood]
            Title=First Blood
            """)
    }

    private func write(_ name: String, _ text: String) throws {
        try SmallFile.replace(folder.path(name), with: Array(text.utf8))
    }

    /// A finished run, and the lines that it printed.
    private struct Run {
        let result: ChildProcess.Result
        let lines: [JSONValue]

        func records(_ name: String) -> [JSONValue] { lines.filter { $0["record"]?.stringValue == name } }
        var end: JSONValue { records("end").last ?? .null }
    }

    private func arguments(_ options: [String], _ command: [String]) -> [String] {
        ["practice", "--game", folder.path("mygame.conf")] + options + ["--"] + command
    }

    private var environment: [String: String] {
        ["PATH": "\(BuiltPrograms.folder):/usr/bin:/bin", "TMPDIR": folder.path, "KLEOS_CONTROL_SOCKET": "/nowhere"]
    }

    private func practice(_ options: [String] = [], _ script: String) throws -> Run {
        try finish(
            ChildProcess(
                BuiltPrograms.path("kleos"), arguments(options, ["/bin/sh", "-c", script]), environment: environment,
                errorFile: folder.path("errors")))
    }

    private func finish(_ process: ChildProcess) throws -> Run {
        let result = try process.finish()
        let lines = try result.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
        return Run(result: result, lines: lines)
    }

    /// Whether nothing of a run is left: no folder, no daemon.
    private func expectNothingLeft(_ comment: Comment? = nil) throws {
        #expect(try Folder.names(in: folder.path).filter { $0.hasPrefix("kleos-practice") } == [], comment)
        #expect(try daemons() == [], comment)
    }

    /// The daemons that belong to this test's folder.
    private func daemons() throws -> [String] {
        try Folder.names(in: "/proc").filter { name in
            guard pid_t(name) != nil else { return false }
            // A process may end while it is looked at.
            let line = (try? SmallFile.readText(at: "/proc/\(name)/cmdline")) ?? ""
            return line.contains("kleosd") && line.contains(folder.path)
        }
    }

    private static let submits = "kleos submit score mygame points 42 && kleos submit achievement mygame first-blood"

    @Test("Says what happened, and succeeds where everything was delivered")
    func reports() throws {
        let run = try practice([], "\(Self.submits); echo from the game")
        #expect(run.result.isSuccess, "\(run.result.errors)")
        #expect(run.result.errors.contains("from the game\n"))
        #expect(
            run.lines.map { $0["record"]?.stringValue } == [
                "request", "request", "delivery", "delivery", "notice", "notice", "board", "achievement", "end",
            ])
        let delivery = try #require(run.records("delivery").first)
        #expect(delivery["leaderboard"] == "points")
        #expect(delivery["value"] == "42")
        #expect(delivery["state"] == "delivered")
        #expect(run.records("board").first?["value"] == "42")
        #expect(run.records("achievement").first?["unlocked"] == true)
        #expect(run.end["deliveries"]?["delivered"] == 2)
        #expect(run.end["exitCode"] == 0)
        try expectNothingLeft()
    }

    @Test("Fails where something is dead, and says what")
    func dead() throws {
        try write("faults.json", #"{"rejectWhere": [{"leaderboard": "points", "valueAbove": "41"}]}"#)
        let run = try practice(["--faults", folder.path("faults.json")], Self.submits)
        #expect(run.result.ending == .exited(1))
        #expect(run.records("difference").count == 1)
        #expect(run.records("difference").first?["found"]?["reason"] == "rejected")
        #expect(run.result.errors.contains("kleos: mygame points 42 mira is dead (rejected)"))
        #expect(run.end["command"]?["exited"] == 0)
    }

    @Test("Fails where something is still on its way when the time is up")
    func pending() throws {
        try write("faults.json", #"{"down": true}"#)
        let run = try practice(["--faults", folder.path("faults.json"), "--timeout", "1"], Self.submits)
        #expect(run.result.ending == .exited(1))
        #expect(run.records("difference").count == 2)
        #expect(run.records("board").isEmpty)
    }

    @Test("Delivers in the end what scripted faults held up")
    func scripted() throws {
        try write(
            "faults.json",
            #"{"script": [{"answer": 503, "times": 2}, "drop", "html", {"answer": "close", "forMilliseconds": 100}]}"#)
        let run = try practice(["--faults", folder.path("faults.json")], Self.submits)
        #expect(run.result.isSuccess, "\(run.result.errors)")
        #expect(run.records("request").prefix(2).allSatisfy { $0["status"] == 503 })
        #expect(run.records("board").count == 1)
        #expect(run.end["deliveries"]?["delivered"] == 2)
    }

    @Test("Compares with what was expected")
    func expectations() throws {
        try write(
            "expect.json",
            """
            {
              "deliveries": [{"leaderboard": "points", "value": 42}, {"achievement": "first-blood", "count": 1}],
              "boards": [{"leaderboard": "points", "player": "mira", "value": "42.0", "rank": 1}],
              "achievements": [{"achievement": "first-blood", "unlocked": true}],
              "notices": [{"achievement": "first-blood", "count": 1}],
              "onlyThese": false
            }
            """)
        let options = ["--expect", folder.path("expect.json")]
        #expect(try practice(options, Self.submits).result.isSuccess)

        let silent = try practice(options, "true")
        #expect(silent.result.ending == .exited(1))
        #expect(silent.records("difference").count == 5)
        #expect(silent.result.errors.contains(#"no entry of a board is like {"leaderboard":"points""#))

        let twice = try practice(options, "\(Self.submits); kleos submit achievement mygame first-blood")
        #expect(twice.result.ending == .exited(1))
        #expect(twice.result.errors.contains("2 deliveries are like"))
    }

    @Test("Takes what is dead for right where that was expected, and what nothing expected for wrong where told so")
    func exactExpectations() throws {
        try write("faults.json", #"{"rejectWhere": [{"leaderboard": "points"}]}"#)
        try write(
            "expect.json",
            #"{"deliveries": [{"leaderboard": "points", "state": "dead", "reason": "rejected"}], "onlyThese": true}"#)
        let options = ["--faults", folder.path("faults.json"), "--expect", folder.path("expect.json")]
        #expect(try practice(options, "kleos submit score mygame points 42").result.isSuccess)
        let more = try practice(options, Self.submits)
        #expect(more.result.ending == .exited(1))
        #expect(more.result.errors.contains("nothing expected the delivery mygame first-blood mira"))
    }

    @Test("Ends with the command's own code", arguments: [("exit 7", 7), ("kill -9 $$", 137), ("exec /no/such", 127)])
    func commandCode(script: String, code: Int32) throws {
        let run = try practice([], script)
        #expect(run.result.ending == .exited(code))
        #expect(run.end["exitCode"]?.int64Value == Int64(code))
        try expectNothingLeft()
    }

    @Test("Says that there is no such command")
    func noCommand() throws {
        let process = try ChildProcess(
            BuiltPrograms.path("kleos"), arguments([], ["no-such-game"]), environment: environment,
            errorFile: folder.path("errors"))
        let run = try finish(process)
        #expect(run.result.ending == .exited(127))
        #expect(run.result.errors.contains("start no-such-game"))
        #expect(run.lines.isEmpty)
        try expectNothingLeft()
    }

    @Test("Ends what the command leaves running, however it hides")
    func orphans() throws {
        let run = try practice(
            [],
            """
            trap '' TERM; (trap '' TERM; setsid sh -c 'echo $$ > "$TMPDIR/orphan"; exec tail -f /dev/null' &)
            until [ -s "$TMPDIR/orphan" ]; do :; done
            """)
        #expect(run.result.isSuccess, "\(run.result.errors)")
        let orphan = try #require(pid_t(SmallFile.readText(at: folder.path("orphan")).filter(\.isNumber)))
        #expect(kill(orphan, 0) == -1 && errno == ESRCH)
        try expectNothingLeft()
    }

    @Test("Cleans up when it is told to stop", arguments: [SIGINT, SIGTERM, SIGHUP])
    func stopped(signal: Int32) throws {
        let pipe = try Fifo(folder.path("pipe"))
        let process = try ChildProcess(
            BuiltPrograms.path("kleos"),
            arguments(
                [],
                [
                    "/bin/sh", "-c",
                    "kleos submit score mygame points 1; echo ready > \(pipe.path); exec tail -f /dev/null",
                ]),
            environment: environment, errorFile: folder.path("errors"))
        #expect(try pipe.nextLine() == "ready")
        #expect(try daemons().count == 1)
        process.send(signal)
        let run = try finish(process)
        #expect(run.result.ending == .exited(128 + signal))
        #expect(run.result.errors.contains("stopped by signal \(signal)"))
        try expectNothingLeft()
    }

    @Test("Says so where the daemon is gone while the command runs")
    func daemonGone() throws {
        let pipe = try Fifo(folder.path("pipe"))
        let process = try ChildProcess(
            BuiltPrograms.path("kleos"),
            arguments([], ["/bin/sh", "-c", "echo ready > \(pipe.path); exec tail -f /dev/null"]),
            environment: environment, errorFile: folder.path("errors"))
        #expect(try pipe.nextLine() == "ready")
        kill(try #require(try daemons().first.flatMap { pid_t($0) }), SIGKILL)
        let run = try finish(process)
        #expect(run.result.ending == .exited(69))
        #expect(run.result.errors.contains("the daemon ended by itself"))
        try expectNothingLeft()
    }

    @Test("The daemon ends with kleos, even where that is killed")
    func killed() throws {
        let pipe = try Fifo(folder.path("pipe"))
        let process = try ChildProcess(
            BuiltPrograms.path("kleos"),
            arguments([], ["/bin/sh", "-c", "echo $$ > \(pipe.path); exec tail -f /dev/null"]),
            environment: environment, errorFile: folder.path("errors"))
        let command = try #require(pid_t(try pipe.nextLine()))
        let daemon = try #require(try daemons().first.flatMap { pid_t($0) })
        process.send(SIGKILL)
        process.wait()
        // Nobody is left to end the command, which is nothing of kleos.
        kill(command, SIGKILL)
        // The daemon is nobody's child here.
        #expect(Patience.until { kill(daemon, 0) == -1 })
        #expect(try daemons() == [])
    }

    @Test("Keeps the folder where it is asked to")
    func kept() throws {
        let run = try practice(["--keep", folder.path("kept")], Self.submits)
        #expect(run.result.isSuccess, "\(run.result.errors)")
        let names = try Folder.names(in: folder.path("kept"))
        for name in ["endpoints.d", "games.d", "kleosd.log"] { #expect(names.contains(name)) }
        let again = try practice(["--keep", folder.path("kept")], Self.submits)
        #expect(again.result.ending == .exited(71))
        #expect(again.result.errors.contains("which has files in it"))
    }

    @Test(
        "Says what is wrong with its files before anything starts",
        arguments: [
            (#"{"deliverys": []}"#, "there is no member deliverys; did you mean deliveries?"),
            (#"{"deliveries": [{"board": "points"}]}"#, "there is no member board"),
            (#"{"deliveries": {}}"#, "deliveries is a list"), (#"["#, "cannot be read as JSON"),
            (#"{"boards": [{"count": -1}]}"#, "count is a whole number"),
        ])
    func badExpectations(text: String, complaint: String) throws {
        try write("expect.json", text)
        let run = try practice(["--expect", folder.path("expect.json")], "touch \(folder.path("started"))")
        #expect(run.result.ending == .exited(65))
        #expect(run.result.errors.contains(complaint), "\(run.result.errors)")
        #expect(access(folder.path("started"), F_OK) == -1)
    }

    @Test("Says what is wrong with a game's file")
    func badGame() throws {
        try write("mygame.conf", "[Game]\nTitel=My Game\n")
        let run = try practice([], "true")
        #expect(run.result.ending == .exited(69))
        #expect(run.result.errors.contains("Titel"))
        try expectNothingLeft()
    }
}
