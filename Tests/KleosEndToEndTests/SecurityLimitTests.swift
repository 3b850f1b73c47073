import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What a hostile endpoint or client can make the daemon use.
@Suite("Security: limits")
struct SecurityLimitTests {
    /// A number of /proc/PID/status in KiB.
    private func kibibytes(_ name: String, of scenario: SecurityScenario) throws -> Int {
        let process = try #require(scenario.daemon.processID)
        let line = try SmallFile.readText(at: "/proc/\(process)/status").split(separator: "\n")
            .first { $0.hasPrefix("\(name):") }
        return try #require(line?.split(whereSeparator: { $0 == " " || $0 == "\t" })[1].description).number
    }

    @Test("S-55: endless, huge and deeply nested answers take no more memory than the limit allows")
    func memory() throws {
        let block = [UInt8](repeating: UInt8(ascii: "["), count: 65_536)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        let endpoint = try ScriptedEndpoint([
            .endless(head: head + "\r\n", block: block),
            .endless(head: head + "Content-Length: 99999999999\r\n\r\n", block: block),
            .endless(head: head, block: Array("X-More: \(String(repeating: "y", count: 60_000))\r\n".utf8)),
            .endless(
                head: head + "Transfer-Encoding: chunked\r\n\r\n",
                block: Array("ffff\r\n".utf8) + block.dropLast() + [13, 10]),
            .endless(head: "HTTP/1.1 103 Early Hints\r\n\r\n", block: Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8)),
            ScriptedEndpoint.http("200 OK", body: String(repeating: "[", count: 200_000)),
            ScriptedEndpoint.http("200 OK", body: #"{"accepted":true}"#),
        ])
        let scenario = try SecurityScenario(url: endpoint.url)
        try scenario.daemon.start()
        try scenario.kleos("status")
        let before = try kibibytes("VmRSS", of: scenario)
        let key = try scenario.submit(500)
        try scenario.wait(for: "it is delivered") { try scenario.kleos("show", key, "--json").contains("delivered") }
        #expect(endpoint.requests.count == 7)
        let peak = try kibibytes("VmHWM", of: scenario)
        #expect(!TestStage.isMemoryTelling || peak - before < 32_768, "from \(before) to \(peak) KiB")
    }

    @Test("S-63: the daemon raises its own limit of descriptors to what it is allowed, and tells clients beyond it")
    func descriptors() throws {
        let scenario = try SecurityScenario(url: "http://127.0.0.1:9")
        let daemon = scenario.daemon
        let script =
            "ulimit -Sn 32; ulimit -Hn 64; exec '\(BuiltPrograms.path("kleosd"))' --private '\(daemon.folder.path)'"
        let process = try ChildProcess("/bin/sh", ["-c", script], errorFile: daemon.folder.path("kleosd.log"))
        #expect(try Patience.until { try daemon.kleos(["status"]).isSuccess })
        let limits = try SmallFile.readText(at: "/proc/\(process.processID)/limits").split(separator: "\n")
        let line = try #require(limits.first { $0.hasPrefix("Max open files") })
        #expect(line.split(separator: " ").filter { Int($0) != nil } == ["64", "64"])
        var held: [FileDescriptor] = []
        for _ in 0..<80 { held.append(try UnixSocket.connect(to: daemon.socketPath)) }
        let refused = try daemon.kleos(["status"])
        #expect(refused.ending == .exited(75), "\(refused.errors)")
        #expect(refused.errors.contains("no descriptors left"), "\(refused.errors)")
        held = []
        #expect(try Patience.until { try daemon.kleos(["status"]).isSuccess })
        process.send(SIGTERM)
        #expect(process.wait() == .exited(0))
    }
}

extension String {
    fileprivate var number: Int { Int(self) ?? 0 }
}
