import Glibc
import KleosConfig
import KleosJSON
import KleosServer
import KleosSupport
import KleosTestSupport
import Testing

/// What a limit does to the client that reaches it, and not to others.
@Suite struct LimitTests {
    private static let hello = #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#

    @Test func servesBesideManyIdleConnections() throws {
        // As many as the limit on descriptors of this process allows, both ends counted, and at most a thousand.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 4_096))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = min(1_000, Int(limit.rlim_cur) / 2 - 200)
        var limits = ConnectionLimits()
        limits.maximumConnectionsPerUser = 2_000
        limits.maximumConnections = 2_000
        let harness = try ServerHarness(limits: limits)
        var idle: [TestClient] = []
        for _ in 0..<count { idle.append(try harness.connect()) }
        #expect(idle.count == count)
        #expect(try harness.connect(uid: ServerHarness.otherUID).ask("hello").result != nil)
        #expect(try #require(idle.last).ask("hello").result != nil)
    }

    @Test("S-60: connections of one user are limited") func limitsConnectionsOfOneUser() throws {
        var limits = ConnectionLimits()
        limits.maximumConnectionsPerUser = 2
        let harness = try ServerHarness(limits: limits)
        let first = try harness.connect()
        var second: TestClient? = try harness.connect()
        let refused = try TestClient(path: harness.submitPath)
        #expect(try refused.answer().reason == "too-many-connections")
        #expect(refused.line() == nil)
        #expect(try harness.connect(uid: ServerHarness.otherUID).ask("hello").result != nil)
        #expect(second != nil)
        second = nil
        // The place is free once the server has seen the end of the connection, after some turn of its own.
        #expect(Patience.until { (try? harness.connect().ask("hello").result) != nil })
        #expect(try first.ask("hello").result != nil)
    }

    @Test("S-60: connections in all are limited") func limitsConnectionsInAll() throws {
        var limits = ConnectionLimits()
        limits.maximumConnections = 1
        let harness = try ServerHarness(limits: limits)
        let first = try harness.connect()
        let refused = try TestClient(path: harness.submitPath)
        #expect(try refused.answer().reason == "too-many-connections")
        #expect(try first.ask("hello").result != nil)
    }

    @Test("S-65: nothing more is read while many requests wait") func stopsReadingWhileManyRequestsWait() throws {
        var limits = ConnectionLimits()
        limits.maximumUnanswered = 4
        let harness = try ServerHarness(limits: limits)
        let client = try harness.connect()
        let count = 500
        var bytes: [UInt8] = []
        for number in 0..<count {
            bytes += Array(
                #"{"jsonrpc":"2.0","id":\#(number),"method":"\#(number % 3 == 0 ? "list" : "status")"}"#.utf8)
            bytes.append(0x0A)
        }
        client.send(bytes)
        var seen: Set<Int64> = []
        for _ in 0..<count { seen.insert(try #require(try client.answer()["id"]?.int64Value)) }
        #expect(seen.count == count)
    }

    @Test("S-62: a client that never reads is cut off") func cutsOffAClientThatNeverReads() throws {
        let harness = try ServerHarness(stallTimeoutMilliseconds: 100)
        let deaf = try harness.connect()
        let other = try harness.connect(uid: ServerHarness.otherUID)
        let requests = Array(String(repeating: Self.hello + "\n", count: 1_000).utf8)
        var sent = 0
        // Sending fails once the server has closed; until then it blocks, because nothing is read any more.
        while sent < 10_000, deaf.send(requests) {
            sent += 1
            #expect(try other.ask("hello").result != nil)
        }
        #expect(sent < 10_000)
        #expect(try other.ask("hello").result != nil)
    }

    @Test("S-62: a subscriber that never reads is cut off") func cutsOffASubscriberThatNeverReads() throws {
        var limits = ConnectionLimits()
        limits.outputLimitBytes = 100_000
        let harness = try ServerHarness(limits: limits)
        let deaf = try harness.connect()
        #expect(try deaf.ask("subscribe", #"{"topics":["deliveries"]}"#).result != nil)
        let player = try harness.connect()
        let name = String(repeating: "p", count: 120)
        // Each makes a push of more than 200 bytes: together far beyond the limit and what the socket itself holds.
        var bytes: [UInt8] = []
        for number in 0..<5_000 {
            bytes += Array(
                (#"{"jsonrpc":"2.0","id":\#(number),"method":"submit","params":{"kind":"score","game":"minesweeper","#
                    + #""leaderboard":"every","value":\#(number),"player":"\#(name)"}}"# + "\n").utf8)
            if number % 50 == 49 {
                player.send(bytes)
                bytes = []
                for _ in 0..<50 { #expect(try player.answer().result != nil) }
            }
        }
        var lines = 0
        while deaf.line() != nil { lines += 1 }
        #expect(lines < 5_000)
        #expect(try player.ask("hello").result != nil)
    }
}
