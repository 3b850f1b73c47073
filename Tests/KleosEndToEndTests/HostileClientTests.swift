import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// Clients that mean harm, against the real daemon: it serves the others, and stays within its bounds.
@Suite("Hostile clients of the real daemon", .serialized)
struct HostileClientTests {
    private let daemon: DaemonHarness

    private static let hello = #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#
    private static let list = #"{"jsonrpc":"2.0","id":1,"method":"list","params":{"limit":500}}"#

    private static let deafClients = TestStage.size("DEAF_CLIENTS", usual: 12, long: 60)

    init() throws {
        daemon = try DaemonHarness(files: [
            "kleosd.conf": "[Limits]\nMaximumConnections=96\nMaximumConnectionsPerUser=64\nOutputLimit=2M\n",
            "games.d/g.conf":
                "[Game]\nEndpoints=home\nPlayer=p\nAllowUsers=*\n[Leaderboard b]\nKeep=every\n",
            "endpoints.d/home.conf": "[Endpoint]\nURL=http://127.0.0.1:1\n",
        ])
        try daemon.start()
    }

    private func submit(_ client: TestClient, _ value: Int, metadata: String = "{}") throws {
        let answer = try client.submit(
            #"{"kind":"score","game":"g","leaderboard":"b","value":\#(value),"metadata":\#(metadata)}"#)
        try #require(answer.result?["state"] == "accepted", "\(answer)")
    }

    /// Submits many events at once.
    private func fill(_ client: TestClient, count: Int, metadata: String) throws {
        for number in 0..<count {
            client.sendLine(
                #"{"jsonrpc":"2.0","id":\#(number),"method":"submit","params":{"kind":"score","game":"g","#
                    + #""leaderboard":"b","value":\#(number),"metadata":\#(metadata)}}"#)
        }
        for _ in 0..<count { try #require(try client.answer().result != nil) }
    }

    @Test("Connections beyond the limit are told why, and places that are left are taken again")
    func flood() throws {
        for round in 0..<3 {
            var served: [TestClient] = []
            var refused = 0
            // The daemon learns of the places that the last round left when it comes to it.
            while served.count < 64 {
                let client = try TestClient(path: daemon.socketPath)
                let answer = try client.exchange(Self.hello)
                if answer.result != nil {
                    served.append(client)
                } else {
                    #expect(round > 0)
                }
            }
            for _ in 0..<100 {
                let client = try TestClient(path: daemon.socketPath)
                let answer = try client.answer()
                #expect(answer.reason == "too-many-connections")
                #expect(answer["error"]?["message"]?.stringValue?.contains("64 connections") == true)
                #expect(client.line() == nil)
                refused += 1
            }
            for client in [served.first, served.last].compactMap({ $0 }) { try submit(client, round) }
            #expect(refused == 100)
        }
        #expect(daemon.stop() == .exited(0))
    }

    @Test("Without descriptors the daemon tells whom it can, pauses where it cannot, and goes on afterwards")
    func descriptors() throws {
        let client = try TestClient(path: daemon.socketPath)
        try submit(client, 1)
        let pid = try #require(daemon.processID)
        let usual = try limitDescriptors(of: pid, to: try Self.lowestFreeDescriptor(of: pid))
        // One place is left, the spare one: who comes gets it for as long as a sentence takes.
        for _ in 0..<50 {
            let late = try TestClient(path: daemon.socketPath)
            let answer = try late.answer()
            #expect(answer.reason == "too-many-connections")
            #expect(answer["error"]?["message"]?.stringValue?.contains("LimitNOFILE=") == true)
        }
        try submit(client, 2)

        func countPauses() throws -> Int { try daemon.log.ranges(of: "accepting connections pauses").count }
        let before = try countPauses()
        let start = try Self.milliseconds()
        _ = try limitDescriptors(of: pid, to: 4)
        let waiting = try (0..<20).map { _ in try TestClient(path: daemon.socketPath) }
        for client in waiting { client.sendLine(Self.hello) }
        var pauses = 0
        var value = 3
        while pauses < 3, value < 20_000 {
            try submit(client, value)
            value += 1
            pauses = try countPauses() - before
        }
        #expect(pauses >= 3)
        // Half a second each at each of two sockets: trying without a pause would say so thousands of times.
        let elapsed = try Self.milliseconds() - start
        #expect(pauses <= 2 + 2 * Int(elapsed / 500))

        _ = try limitDescriptors(of: pid, to: usual)
        for client in waiting { #expect(try client.answer().result != nil) }
        try submit(client, value)
        #expect(daemon.stop() == .exited(0))
    }

    @Test("Clients that ask much and read nothing are held to their limit")
    func deaf() throws {
        let other = try TestClient(path: daemon.socketPath)
        let words = #"{"a":"\#(String(repeating: "x", count: 3_000))"}"#
        try fill(other, count: 600, metadata: words)
        let pid = try #require(daemon.processID)
        let before = try Self.status("VmRSS", of: pid)
        let deaf = try (0..<Self.deafClients).map { _ in try TestClient(path: daemon.socketPath) }
        let questions = Array(String(repeating: Self.list + "\n", count: 500).utf8)
        for client in deaf {
            Self.makeNonBlocking(client)
            client.send(questions)
        }
        for value in 0..<20 { try submit(other, value) }
        // Two answers under way and a quarter of a mebibyte that waits: never more than one and a half mebibytes each.
        let grown = try Self.status("VmHWM", of: pid) - before
        #expect(!TestStage.isMemoryTelling || grown < 16_384 + Self.deafClients * 1_536, "\(grown) KiB")
        TestStage.report(
            "deaf clients",
            "\(Self.deafClients) clients with 500 questions each, the daemon grew by \(grown / 1_024) MiB")
        #expect(daemon.stop() == .exited(0))
    }

    @Test("Lines that never end are not kept")
    func endless() throws {
        let other = try TestClient(path: daemon.socketPath)
        try submit(other, 1)
        let pid = try #require(daemon.processID)
        let before = try Self.status("VmRSS", of: pid)
        let clients = try (0..<Self.deafClients).map { _ in try TestClient(path: daemon.socketPath) }
        let piece = [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)
        for client in clients {
            for _ in 0..<2 { client.send(piece) }
        }
        try submit(other, 2)
        for client in clients { #expect(try client.answer().reason == "too-large") }
        let grown = try Self.status("VmHWM", of: pid) - before
        // Two mebibytes came of each; a line and what one reading brings is all that there may be of each.
        #expect(!TestStage.isMemoryTelling || grown < 8_192 + Self.deafClients * 256, "\(grown) KiB")
        TestStage.report(
            "endless lines",
            "\(2 * Self.deafClients) MiB in \(Self.deafClients) lines, the daemon grew by \(grown / 1_024) MiB")
        #expect(daemon.stop() == .exited(0))
    }

    @Test("A user whose events fill the user's share is told so, and operators see who it is")
    func share() throws {
        daemon.stop()
        try daemon.write("kleosd.conf", "[Storage]\nMaximumSize=4M\nMaximumSharePerUser=5%\nKeepFree=0\n")
        try daemon.start()
        let client = try TestClient(path: daemon.socketPath)
        let words = #"{"a":"\#(String(repeating: "x", count: 3_000))"}"#
        var answer = JSONValue.null
        var count = 0
        repeat {
            answer = try client.submit(
                #"{"kind":"score","game":"g","leaderboard":"b","value":\#(count),"metadata":\#(words)}"#)
            count += 1
        } while answer.result != nil && count < 1_000
        #expect((10...60).contains(count))
        #expect(answer.reason == "queue-full")
        let message = try #require(answer["error"]?["message"]?.stringValue)
        #expect(message.contains("user \(getuid()) ") && message.contains("MaximumSharePerUser="))
        let storage = try #require(try client.ask("status").result?["storage"])
        #expect(storage["userLimitBytes"] == 209_715)
        #expect(storage["users"]?.arrayValue?.first?["uid"]?.int64Value == Int64(getuid()))
        #expect(storage["acceptance"] == "open")
        for arguments in [["status"], ["status", "--json"]] {
            let result = try daemon.kleos(arguments)
            #expect(result.isSuccess)
            let hint = arguments.count == 1 ? "new ones are refused" : "userLimitBytes"
            #expect(result.output.contains(hint), "\(result.output)")
        }
        #expect(daemon.stop() == .exited(0))
    }

    @Test("Clients that vanish leave no descriptor behind")
    func vanishing() throws {
        var random = SeededGenerator(seed: 23)
        let other = try TestClient(path: daemon.socketPath)
        try submit(other, 1)
        let pid = try #require(daemon.processID)
        let before = try Self.descriptors(of: pid)
        let lines = [
            Self.hello, Self.list, "nonsense", "",
            #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"topics":["deliveries"]}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":"g","leaderboard":"b","value":1}}"#,
        ]
        let rounds = TestStage.size("VANISHING_CLIENTS", usual: 200, long: 5_000)
        for _ in 0..<rounds {
            let client = try TestClient(path: daemon.socketPath)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...10, using: &random) {
                bytes += Array((lines.randomElement(using: &random) ?? "").utf8) + [0x0A]
            }
            client.send(Array(bytes.prefix(Int.random(in: 0...max(1, bytes.count), using: &random))))
        }
        var turns = 0
        while try Self.descriptors(of: pid) > before, turns < 20_000 {
            try submit(other, turns)
            turns += 1
        }
        #expect(try Self.descriptors(of: pid) <= before)
        #expect(daemon.stop() == .exited(0))
    }
}

extension HostileClientTests {
    /// How many descriptors the process has open.
    private static func descriptors(of pid: pid_t) throws -> Int {
        try Folder.names(in: "/proc/\(pid)/fd").count
    }

    /// The number that the next descriptor would get; as a limit it leaves no place.
    private static func lowestFreeDescriptor(of pid: pid_t) throws -> UInt {
        let open = Set(try Folder.names(in: "/proc/\(pid)/fd").compactMap { UInt($0) })
        return try #require((0...4_096).first { !open.contains($0) })
    }

    /// A figure of /proc/PID/status, in KiB.
    private static func status(_ name: String, of pid: pid_t) throws -> Int {
        let text = try SmallFile.readText(at: "/proc/\(pid)/status")
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
        return try #require(line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) })
    }

    /// Sets the soft limit of the daemon, which runs. Returns the one before.
    private func limitDescriptors(of pid: pid_t, to limit: UInt) throws -> UInt {
        let text = try SmallFile.readText(at: "/proc/\(pid)/limits")
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let before = try #require(line.split(separator: " ").dropFirst(3).first.flatMap { UInt($0) })
        let result = try ChildProcess(
            "/usr/bin/prlimit", ["--pid", String(pid), "--nofile=\(limit):"],
            errorFile: daemon.folder.path("prlimit.err")
        ).finish()
        try #require(result.isSuccess, "\(result.errors)")
        return before
    }

    private static func milliseconds() throws -> Int64 {
        var now = timespec()
        try #require(clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }

    /// What the socket does not take is not sent, and the client goes on.
    private static func makeNonBlocking(_ client: TestClient) {
        try? client.descriptor.setNonBlocking()
    }
}
