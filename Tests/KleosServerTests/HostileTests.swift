import Glibc
import KleosConfig
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosServer

/// Clients that mean harm, or are broken: each gets an error or is cut off, and the others get their answers.
@Suite struct HostileTests {
    private static let hello = #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#
    private static let submit =
        #"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":"minesweeper","#
        + #""leaderboard":"every","value":1}}"#

    private func expectServed(_ harness: ServerHarness) throws {
        #expect(try harness.connect(uid: ServerHarness.otherUID).ask("hello").result?["server"] == "kleosd")
    }

    @Test func halfLinesForEverHoldUpNobody() throws {
        let harness = try ServerHarness()
        let slow = try (0..<50).map { _ in try harness.connect() }
        for byte in Self.hello.utf8 {
            for client in slow { client.send([byte]) }
        }
        try expectServed(harness)
        for client in slow { client.send([0x0A]) }
        for client in slow { #expect(try client.answer().result != nil) }
    }

    @Test func aLineThatNeverEndsIsReportedOnceAndNotKept() throws {
        let harness = try ServerHarness()
        let client = try harness.connect()
        let piece = [UInt8](repeating: UInt8(ascii: "{"), count: 1 << 20)
        for _ in 0..<16 { client.send(piece) }
        #expect(try client.answer().reason == "too-large")
        try expectServed(harness)
        #expect(try client.exchange("\n" + Self.hello).result != nil)
    }

    @Test func aBatchOf65IsRefusedWholeAndOneOf64IsAnswered() throws {
        let harness = try ServerHarness()
        let client = try harness.connect()
        func batch(_ count: Int) -> String {
            "[" + Array(repeating: Self.submit, count: count).joined(separator: ",") + "]"
        }
        #expect(try client.exchange(batch(65)).reason == "too-large")
        #expect(try client.ask("status").result?["counts"]?["ready"] == 0)
        #expect(try client.exchange(batch(64)).arrayValue?.count == 64)
        #expect(try client.ask("status").result?["counts"]?["ready"] == 64)
    }

    @Test func manyBatchesOfHeavyQuestionsAreAnsweredWithinTheLimits() throws {
        let harness = try ServerHarness()
        let client = try harness.connect()
        let list = #"{"jsonrpc":"2.0","id":1,"method":"list"}"#
        let batch = "[" + Array(repeating: list, count: 64).joined(separator: ",") + "]\n"
        client.send(Array(String(repeating: batch, count: 20).utf8))
        try expectServed(harness)
        for _ in 0..<20 { #expect(try client.answer().arrayValue?.count == 64) }
    }

    @Test(arguments: [31, 32, 33, 1_000, 60_000])
    func nestingEndsAt32(depth: Int) throws {
        let harness = try ServerHarness()
        let client = try harness.connect()
        // The request and its params are the first two levels.
        let nested =
            String(repeating: "[", count: depth - 2) + (depth > 1_000 ? "" : String(repeating: "]", count: depth - 2))
        let answer = try client.exchange(
            #"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"x":\#(nested)}}"#)
        #expect((answer.reason == "parse-error") == (depth > Limits.jsonDepth))
        try expectServed(harness)
    }

    @Test func aLineOf64KiBInAnyPartIsAnswered() throws {
        let harness = try ServerHarness()
        let client = try harness.connect()
        let frames = [
            (#"{"jsonrpc":"2.0","id":""#, #"","method":"hello"}"#, String?.none),
            (#"{"jsonrpc":"2.0","id":1,"method":""#, #""}"#, "unknown-method"),
            (#"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":""#, #""}}"#, "unknown-game"),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":"minesweeper","leaderboard":""#,
                #""}}"#, "unknown-leaderboard"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":"minesweeper","player":""#,
                #"","leaderboard":"every","value":1}}"#, "too-large"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"submit","params":{"kind":"score","game":"minesweeper","leaderboard":"every","value":"#,
                #"}}"#, "invalid-value"
            ),
            (#"{"jsonrpc":"2.0","id":1,"method":"hold","params":{"keys":[""#, #""]}}"#, "not-permitted"),
            (#"{"jsonrpc":"2.0","id":1,"method":"list","params":{"cursor":""#, #""}}"#, "invalid-parameter"),
        ]
        for (start, end, reason) in frames {
            let filler = String(repeating: "7", count: Limits.requestBytes - start.utf8.count - end.utf8.count)
            #expect(try client.exchange(start + filler + end).reason == reason, "\(start)")
        }
    }

    @Test func subscribersWithoutNumberGetEachPushOnce() throws {
        let harness = try ServerHarness()
        let subscribers = try (0..<100).map { _ in try harness.connect() }
        for client in subscribers {
            // The last one counts; none adds up.
            for _ in 0..<20 { #expect(try client.ask("subscribe", #"{"topics":["deliveries"]}"#).result != nil) }
        }
        let player = try harness.connect()
        player.sendLine(Self.submit)
        #expect(try player.answer().result != nil)
        for client in subscribers {
            #expect(try client.answer()["method"] == "delivery")
            #expect(try client.exchange(Self.hello).result != nil)
        }
    }

    @Test func garbageIsAnsweredLineByLine() throws {
        var random = SeededGenerator(seed: 11)
        let harness = try ServerHarness()
        let client = try harness.connect()
        for _ in 0..<300 {
            let count = Int.random(in: 1...2_000, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }.filter { $0 != 0x0A }
            bytes.append(0x0A)
            client.send(bytes)
            #expect(try client.answer().reason == "parse-error")
        }
        #expect(try client.exchange(Self.hello).result != nil)
    }

    /// Each leaves at some other moment; in the end there is nothing left of any of them.
    @Test func clientsThatVanishLeaveNothingBehind() throws {
        var random = SeededGenerator(seed: 5)
        let harness = try ServerHarness(stallTimeoutMilliseconds: 200)
        let lines = [
            Self.hello, Self.submit, "[\(Self.submit),\(Self.hello)]", #"{"jsonrpc":"2.0","id":1,"method":"status"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"list","params":{"limit":500}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"topics":["deliveries","notices","endpoints"]}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"presence","params":{"game":"minesweeper","state":"foreground"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"notices.claim","params":{"route":"game"}}"#, "nonsense",
        ]
        let rounds = TestStage.size("VANISHING_CLIENTS", usual: 200, long: 5_000)
        for _ in 0..<rounds {
            let client = try TestClient(path: harness.submitPath)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                bytes += Array((lines.randomElement(using: &random) ?? Self.hello).utf8) + [0x0A]
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...max(1, bytes.count), using: &random)))
            client.send(bytes)
            // Every whole line has an answer; some clients wait for one or two of them.
            let answers = min(bytes.count { $0 == 0x0A }, Int.random(in: 0...2, using: &random))
            for _ in 0..<answers { #expect(client.line() != nil) }
            if Bool.random(using: &random) { shutdown(client.descriptor.number, Int32(SHUT_WR)) }
        }
        let last = try harness.connect(uid: ServerHarness.otherUID)
        func left() -> (connections: Int, users: Int, subscribers: Int) {
            harness.server.sync {
                ($0.connections.count, $0.users.values.map(\.unanswered).reduce(0, +), $0.subscribers.count)
            }
        }
        #expect(Patience.until { left() == (1, 0, 0) }, "\(left())")
        #expect(try last.ask("status").result != nil)
        #expect(harness.server.sync { $0.presences.isEmpty })
        TestStage.report("vanishing clients", "\(rounds) clients, nothing left of any")
    }
}
