import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// LoopbackPort=, for games that have no Unix sockets.
@Suite("Reach: LoopbackPort=")
struct LoopbackTests {
    private static let submit =
        #"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":"minesweeper","player":"ada","#
        + #""leaderboard":"beginner","value":5000,"id":"one"}}"#

    private func start(_ settings: String) throws -> SecurityScenario {
        let scenario = try SecurityScenario(url: "http://127.0.0.1:9", settings: settings)
        try scenario.daemon.start()
        return scenario
    }

    private func ticket(_ scenario: SecurityScenario) throws -> (token: String, port: UInt16) {
        let lines = try SmallFile.readText(at: scenario.daemon.folder.path("loopback")).split(separator: "\n")
        try #require(lines.count == 2)
        return (String(lines[0]), try #require(UInt16(lines[1])))
    }

    /// What comes back until the daemon closes, or the first line where it does not.
    private func exchange(_ text: String, port: UInt16) throws -> String {
        let descriptor = try TestTCP.connect(port: port)
        var limit = timeval(tv_sec: Int(Patience.limitMilliseconds) / 1_000, tv_usec: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        try descriptor.writeAll(Array(text.utf8))
        var answer = ""
        while !answer.contains("\n") {
            // A connection that is reset has ended, too.
            guard let bytes = try? descriptor.read(limitBytes: 4_096), !bytes.isEmpty else { break }
            answer += String(decoding: bytes, as: UTF8.self)
        }
        return answer
    }

    @Test("S-28: who shows the token submits as the daemon's user, over a file that is that user's alone")
    func submits() throws {
        let scenario = try start("LoopbackPort=0\n")
        var status = stat()
        try #require(lstat(scenario.daemon.folder.path("loopback"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        let ticket = try ticket(scenario)
        #expect(ticket.token.count == 64)
        let answer = try JSONParser.parse(
            Array(try exchange("\(ticket.token)\n\(Self.submit)\n", port: ticket.port).utf8))
        #expect(answer["result"]?["state"] == "accepted", "\(answer.serialized)")
        let key = try #require(answer["result"]?["key"]?.stringValue)
        #expect(try scenario.kleos("show", key).contains("uid \(getuid())"))
    }

    @Test("S-28: without the token the connection is closed and not a byte is answered")
    func refuses() throws {
        let scenario = try start("LoopbackPort=0\n")
        let ticket = try ticket(scenario)
        let wrong = String(ticket.token.reversed())
        for opening in [
            "\(wrong)\n", "\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\(ticket.token.dropLast())\n\n",
            "\(ticket.token)\(ticket.token)\n", Self.submit + "\n",
        ] {
            #expect(try exchange(opening + Self.submit + "\n", port: ticket.port).isEmpty, "\(opening)")
        }
        #expect(try scenario.kleos("list", "--json").isEmpty)
        // Those who wait with nothing to show keep nobody out.
        let silent = try (0..<40).map { _ in try TestTCP.connect(port: ticket.port) }
        #expect(try exchange("\(ticket.token)\n\(Self.submit)\n", port: ticket.port).contains("accepted"))
        withExtendedLifetime(silent) {}
    }

    @Test("S-28: each daemon has a token of its own, and takes it away at its end")
    func tokens() throws {
        let scenario = try start("LoopbackPort=0\n")
        let first = try ticket(scenario).token
        scenario.daemon.stop()
        #expect(access(scenario.daemon.folder.path("loopback"), F_OK) != 0)
        try scenario.daemon.start()
        #expect(try ticket(scenario).token != first)
    }

    @Test("S-28: it is off unless it is set, and the system's daemon refuses it")
    func off() throws {
        let scenario = try start("")
        #expect(access(scenario.daemon.folder.path("loopback"), F_OK) != 0)
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.path("kleosd.conf"), with: Array("[Daemon]\nLoopbackPort=4711\n".utf8))
        let result = try ChildProcess(
            BuiltPrograms.path("kleosd"), ["--config", folder.path, "--state", folder.path, "--sockets", folder.path],
            errorFile: folder.path("err")
        ).finish()
        #expect(result.ending == .exited(78))
        #expect(result.errors.contains("kleosd.conf:2: LoopbackPort=4711: is for a user's own and private daemons"))
    }
}

/// Plain connections over the loopback.
enum TestTCP {
    /// Connects to 127.0.0.1. Throws `SystemError`.
    static func connect(port: UInt16) throws(SystemError) -> FileDescriptor {
        let descriptor = FileDescriptor(
            owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            // Sound: a sockaddr_in begins as every sockaddr does, and its length goes with it.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SystemError("connect to port \(port)") }
        return descriptor
    }
}
