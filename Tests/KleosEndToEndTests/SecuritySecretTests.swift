import Glibc
import KleosClient
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// A planted token is looked for in everything that the daemon writes, says and shows.
@Suite("Security: secrets")
struct SecuritySecretTests {
    private static let token = "kl30s-Pl4nted.Token_0123456789abcdefXYZ"

    /// Answers that repeat the token in every way that a service might, some of them final, the last a confirmation.
    private static let echoes: [ScriptedEndpoint.Answer] = {
        let bytes = Array(token.utf8)
        let percent = bytes.map { "%\(Spelling.hex($0))" }.joined()
        let escaped = bytes.map { "\\u00\(Spelling.hex($0))" }.joined()
        let entities = bytes.map { "&#\($0);" }.joined()
        let digits = bytes.map { Spelling.hex($0) }.joined()
        let texts = [token, percent, entities, digits, Spelling.base64("Bearer \(token)..", from: 0)]
        var answers = texts.flatMap { text in
            [
                ScriptedEndpoint.http("500 \(text)", ["X-Token: \(text)"], body: "Authorization: Bearer \(text)"),
                ScriptedEndpoint.http("302 Found", ["Location: https://x.example/?t=\(text)"], body: ""),
                ScriptedEndpoint.http(
                    "200 OK", ["Content-Type: text/html; t=\(text)"], body: "<a href='?t=\(text)'>sign in</a>"),
                ScriptedEndpoint.http("409 Conflict", body: #"{"error":{"code":"\#(text)","message":"is \#(text)"}}"#),
            ]
        }
        answers.append(
            ScriptedEndpoint.http("500 No", body: #"{"error":{"code":"e","message":"\#(escaped)"}}"#))
        answers.append(.text("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n\(token)"))
        answers.append(.text("\(token)\r\n\r\n"))
        answers.append(
            ScriptedEndpoint.http(
                "200 OK", body: #"{"accepted":true,"rank":1,"best":"\#(token)","improved":true,"x":"\#(escaped)"}"#))
        return answers
    }()

    private func hook(_ scenario: SecurityScenario) throws {
        let path = scenario.daemon.folder.path("hook")
        let text = "#!/bin/sh\nenv > '\(path).env'\ncat >> '\(path).input'\necho done\n"
        try SmallFile.replace(path, with: Array(text.utf8), mode: 0o700)
        try scenario.daemon.write("kleosd.conf", "[Daemon]\nLogLevel=debug\n[Notices]\nCommand=\(path)\n")
    }

    /// Submits until the endpoint has said everything it has to say, then looks everywhere.
    private func hunt(_ scenario: SecurityScenario, _ endpoint: ScriptedEndpoint, kept: Set<String>) throws {
        let hunt = SecretHunt(token: Self.token, scenario: scenario)
        let first = try scenario.submit(900)
        var keys = [first]
        try hunt.checkProcesses()
        // Each answer fails one attempt, and a failing endpoint is probed one delivery at a time.
        for value in 0..<20 { keys.append(try scenario.submit(899 - value, player: "player\(value)")) }
        try scenario.wait(for: "every answer was given") {
            try hunt.checkProcesses()
            return endpoint.requests.count >= Self.echoes.count
        }
        try scenario.wait(for: "everything is settled") {
            try scenario.kleos("list", "--json", "--state", "ready").isEmpty
        }
        #expect(endpoint.requests.allSatisfy { $0.contains("Authorization: Bearer \(Self.token)\r\n") })
        try hunt.checkCommands(keys: keys)
        // Where the token stood, a mark stands: the answers were kept, and without it.
        let shown = try keys.map { try scenario.kleos("show", $0) }.joined()
        #expect(shown.contains("(secret)"))
        try hunt.checkFiles(except: kept)
        scenario.daemon.stop()
        try hunt.checkFiles(except: kept)
    }

    @Test("S-01: a token from a file stands in no log, list, error, receipt, notice, command or process list")
    func tokenFile() throws {
        let endpoint = try ScriptedEndpoint(Self.echoes)
        let scenario = try SecurityScenario(url: endpoint.url, endpoint: "TokenFile=home.token")
        try scenario.daemon.write("endpoints.d/home.token", Self.token)
        try hook(scenario)
        try scenario.daemon.start()
        try hunt(scenario, endpoint, kept: ["home.token"])
        let told = try SmallFile.readText(at: scenario.daemon.folder.path("hook.input"))
        #expect(told.contains("\"rank\":1"))
    }

    @Test("S-02: a token from the service manager's credentials stands in none of them either")
    func credential() throws {
        let endpoint = try ScriptedEndpoint(Self.echoes)
        let scenario = try SecurityScenario(url: endpoint.url, endpoint: "TokenCredential=home")
        try scenario.daemon.write("credentials/home", Self.token)
        try hook(scenario)
        try scenario.daemon.start(environment: ["CREDENTIALS_DIRECTORY": scenario.daemon.folder.path("credentials")])
        try hunt(scenario, endpoint, kept: ["home"])
        let variables = try SmallFile.readText(at: scenario.daemon.folder.path("hook.env"))
        #expect(variables.contains("PATH="))
        #expect(!variables.contains("CREDENTIALS"))
    }

    @Test("S-08: errors of the client library and of kleos hold no token")
    func clientErrors() async throws {
        let body = #"{"error":{"code":"bad","message":"who is \#(Self.token)?"}}"#
        let endpoint = try ScriptedEndpoint([ScriptedEndpoint.http("400 Bad", body: body)])
        let scenario = try SecurityScenario(url: endpoint.url, endpoint: "TokenFile=home.token")
        try scenario.daemon.write("endpoints.d/home.token", Self.token)
        try scenario.daemon.start()
        let hunt = SecretHunt(token: Self.token, scenario: scenario)
        let client = KleosClient(game: "minesweeper", player: "ada", socketPath: scenario.daemon.socketPath)
        defer { client.close() }
        func submit(_ value: Int64, _ leaderboard: String) async -> Result<SubmitReceipt, KleosError> {
            await withCheckedContinuation { continuation in
                client.submitScore(value, leaderboard: leaderboard) { continuation.resume(returning: $0) }
            }
        }
        let receipt = try await submit(5, "beginner").get()
        try scenario.wait(for: "it is dead") {
            try !scenario.kleos("list", "--json", "--state", "dead").isEmpty
        }
        for (leaderboard, value) in [("nowhere", 5), ("beginner", -5)] as [(String, Int64)] {
            guard case .failure(let error) = await submit(value, leaderboard) else {
                Issue.record("\(leaderboard) \(value) was accepted")
                continue
            }
            hunt.check("\(error) \(String(reflecting: error))", "an error of the client library")
        }
        let key = try #require(receipt.key)
        try hunt.checkCommands(keys: [key])
        #expect(try scenario.kleos("show", key).contains("who is (secret)?"))
        // What is wrong with a secret is said without repeating it, also by a reload.
        try scenario.daemon.write("endpoints.d/home.token", "\(Self.token) \(Self.token)\n")
        let reload = try scenario.daemon.kleos(["reload"])
        #expect(!reload.isSuccess && reload.errors.contains("one line of visible ASCII"))
        hunt.check(reload.output + reload.errors, "what kleos reload says")
        hunt.check(try scenario.daemon.log, "the log")
    }
}
