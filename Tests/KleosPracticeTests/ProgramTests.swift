import Glibc
import KleosJSON
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct ProgramTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(BuiltPrograms.path("kleos-practice"), arguments, errorFile: folder.path("errors"))
    }

    private func run(_ arguments: [String]) throws -> ChildProcess.Result {
        try start(arguments).finish()
    }

    @Test func itSaysWhereItListensIsSteeredAndEndsCleanly() throws {
        let program = try start(
            ["--listen", "127.0.0.1:0", "--port-file", folder.path("port"), "--exit-with-parent", "--down=503"])
        let line = try #require(try program.nextLine())
        let port = try SmallFile.readText(at: folder.path("port")).split(separator: "\n")[0]
        #expect(line == "kleos-practice: listening on http://127.0.0.1:\(port)")
        let url = "http://127.0.0.1:\(port)"
        let client = try PracticeClient(url: url)
        #expect(try client.submit("/v1/scores", score("k1", value: "8080")).status == 503)
        #expect(try run(["faults", url, "--up"]).output == "no faults\n")
        #expect(try client.submit("/v1/scores", score("k1", value: "8080")).status == 200)
        #expect(
            try run(["boards", url]).output == """
                minesweeper / beginner: lowest first, keeps best, 1 score
                RANK  PLAYER  VALUE
                   1  ada      8080

                """)
        let set = try run(["faults", url, "--latency", "5-10", "--script=503,drop", "--reject", #"{"player": "eve"}"#])
        #expect(set.output.contains(#""latencyMilliseconds":{"min":5,"max":10},"script":[503,"drop"]"#))
        #expect(try run(["faults", url, "--clear"]).output == "no faults\n")
        program.send(SIGTERM)
        #expect(try program.finish().ending == .exited(0))
        let gone = try run(["boards", url])
        #expect(gone.ending == .exited(EX_UNAVAILABLE))
        #expect(gone.errors.contains("connect to 127.0.0.1:\(port)"))
    }

    @Test(arguments: [
        (["--nonsense"], "there is no option --nonsense"),
        (["--listen", "0.0.0.0:0"], "--allow-remote"),
        (["--listen", "nowhere"], "ADDRESS:PORT"),
        (["--failure-share", "2"], "\"failureShare\" must be a share from 0 to 1"),
        (["dance"], "there is no command dance"),
        (["boards"], "needs the URL"),
        (["--store"], "--store needs a value"),
    ])
    func aWrongCommandLineIsExplained(arguments: [String], message: String) throws {
        let result = try run(arguments)
        #expect(result.ending == .exited(EX_USAGE))
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.output.isEmpty)
    }

    @Test func faultsComeFromAFile() throws {
        try SmallFile.replace(folder.path("faults.json"), with: Array(#"{"notFound": true}"#.utf8))
        let program = try start(
            ["--listen=127.0.0.1:0", "--faults", folder.path("faults.json"), "--exit-with-parent"])
        let line = try #require(try program.nextLine())
        let client = try PracticeClient(url: String(line.split(separator: " ").last ?? ""))
        #expect(try client.submit("/v1/scores", score("k1")).status == 404)
        program.send(SIGTERM)
        #expect(try program.finish().isSuccess)
    }

    @Test func itEndsWithItsParent() throws {
        let shell = try ChildProcess(
            "/bin/sh",
            ["-c", #""$0" --listen 127.0.0.1:0 --exit-with-parent & wait"#, BuiltPrograms.path("kleos-practice")],
            errorFile: folder.path("errors"))
        let line = try #require(try shell.nextLine())
        let client = try PracticeClient(url: String(line.split(separator: " ").last ?? ""))
        #expect(try client.get("/healthz").status == 200)
        shell.send(SIGKILL)
        shell.wait()
        // Its standard output ends when the program has ended, too.
        #expect(try shell.nextLine() == nil)
        #expect(throws: PracticeClient.Failure.self) { try client.get("/healthz") }
    }

    @Test func thePageLoadsNothingFromElsewhereAndNamesAreText() throws {
        let practice = try Practice()
        let page = try practice.client.get("/")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == 200)
        #expect(page.header("content-security-policy")?.hasPrefix("default-src 'none'") == true)
        #expect(!text.contains("://"))
        #expect(!text.contains("innerHTML"))
        _ = try practice.submit(score: "k1", player: "<b>eve</b>")
        let state = try practice.client.get("/state").json
        #expect(state?["boards"]?.arrayValue?.first?["entries"]?.arrayValue?.first?["player"] == "<b>eve</b>")
        #expect(try practice.client.get("/boards/minesweeper/beginner").json?["entryCount"] == 1)
        #expect(try practice.client.get("/boards/minesweeper/b%65ginner").status == 200)
        #expect(try practice.client.get("/boards/minesweeper/none").status == 404)
    }
}
