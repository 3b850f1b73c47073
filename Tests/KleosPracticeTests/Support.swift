import KleosJSON
import KleosPractice
import KleosSupport

/// A server of its own with a client for it.
struct Practice {
    let server: PracticeServer
    let client: PracticeClient

    init(_ configure: (inout PracticeServer.Options) -> Void = { _ in }) throws {
        var options = PracticeServer.Options()
        configure(&options)
        server = try PracticeServer(options: options)
        client = try PracticeClient(url: server.url)
    }

    init(faults text: String) throws {
        try self.init()
        try setFaults(text)
    }

    func setFaults(_ text: String) throws {
        var faults = Faults()
        try faults.merge(try json(text))
        server.setFaults(faults)
    }

    func submit(score key: String, player: String = "ada", value: String = "10", _ changes: JSONValue = [:]) throws
        -> PracticeClient.Answer
    {
        try client.submit("/v1/scores", score(key, player: player, value: value, changes))
    }

    func submit(achievement key: String, player: String = "ada", _ changes: JSONValue) throws
        -> PracticeClient.Answer
    {
        let base: JSONValue = [
            "key": .string(key), "game": "minesweeper", "player": .string(player), "achievement": "flags",
            "recordedAt": "2026-11-30T05:00:00.000Z",
        ]
        return try client.submit("/v1/achievements", merged(base, changes))
    }

    /// Sends raw bytes on a connection of their own and returns all that comes until the server closes it.
    func exchange(_ text: String) throws -> String {
        let connection = try open()
        try TCPSocket.sendAll(Array(text.utf8), on: connection)
        return String(
            decoding: try SmallFile.read(from: connection, path: "answer", limitBytes: 1 << 24), as: UTF8.self)
    }

    func open() throws -> FileDescriptor {
        try TCPSocket.connect(to: server.address, timeoutMilliseconds: 30_000)
    }
}

func json(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

func merged(_ base: JSONValue, _ changes: JSONValue) -> JSONValue {
    var object = base.objectValue ?? JSONObject()
    for member in changes.objectValue?.members ?? [] {
        object[member.name] = member.value.isNull ? JSONValue?.none : member.value
    }
    return .object(object)
}

func score(
    _ key: String, player: String = "ada", value: String = "10", _ changes: JSONValue = [:]
) -> JSONValue {
    merged(
        [
            "key": .string(key), "game": "minesweeper", "player": .string(player), "leaderboard": "beginner",
            "value": .string(value), "order": "ascending", "keep": "best", "recordedAt": "2026-11-30T05:00:00.000Z",
        ], changes)
}

/// A submission as bytes of HTTP/1.1.
func rawScore(_ key: String, value: String = "10", closing: Bool = false) -> String {
    let body = score(key, value: value).serialized
    return "POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nIdempotency-Key: \"\(key)\"\r\n"
        + (closing ? "Connection: close\r\n" : "") + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}
