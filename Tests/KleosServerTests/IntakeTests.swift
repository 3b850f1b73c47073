import Dispatch
import KleosJSON
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

@testable import KleosServer

/// What clients send faster than it is recorded: little of it is held, and none of it is lost.
@Suite struct IntakeTests {
    private static func submit(_ number: Int, padding: Int = 0) -> String {
        let metadata = padding > 0 ? #","metadata":{"x":"\#(String(repeating: "x", count: padding))"}"# : ""
        return #"{"jsonrpc":"2.0","id":\#(number),"method":"submit","params":{"kind":"score","game":"minesweeper","#
            + #""leaderboard":"every","value":\#(number % 1_000_000)\#(metadata)}}"# + "\n"
    }

    /// Holds the store up until the gate is opened.
    private static func holdUp(_ harness: ServerHarness) -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        harness.store.store.perform { _ in
            gate.wait()
        } then: { _ in
        }
        return gate
    }

    /// Sends on a thread of its own: the socket takes the last bytes when most of them were read.
    private static func send(_ text: String, to client: TestClient) {
        let descriptor = client.descriptor
        DispatchQueue(label: "sender").async { try? descriptor.writeAll(Array(text.utf8)) }
    }

    @Test("S-65: nothing more is read while large requests wait") func largeRequestsStopTheReading() throws {
        let limits = IntakeLimits()
        let harness = try ServerHarness(stallTimeoutMilliseconds: 600_000)
        let client = try harness.connect()
        let other = try harness.connect(uid: ServerHarness.otherUID)
        let lines = (0..<2_000).map { Self.submit($0, padding: 3_500) }
        let gate = Self.holdUp(harness)
        Self.send(lines.joined(), to: client)
        #expect(Patience.until { harness.server.sync { $0.intake.bytes } >= limits.connectionBytes })
        // Each answer is a turn of the server, in which it could read on.
        for _ in 0..<100 { #expect(try other.ask("hello").result != nil) }
        gate.signal()
        for number in 0..<2_000 {
            let answer = try client.answer()
            #expect(answer["id"] == .integer(number))
            #expect(answer.result?["state"] == "accepted")
        }
        let longest = try #require(lines.map(\.utf8.count).max())
        #expect(harness.server.sync { $0.intake.peakBytes } < limits.connectionBytes + longest)
        #expect(harness.server.sync { $0.intake.bytes } == 0)
    }

    @Test func connectionsOfOneUserShareWhatIsHeld() throws {
        var limits = IntakeLimits()
        limits.userBytes = 8_192
        let harness = try ServerHarness(intake: limits, stallTimeoutMilliseconds: 600_000)
        let clients = try (0..<8).map { _ in try harness.connect() }
        let lines = (0..<100).map { Self.submit($0, padding: 500) }
        for client in clients { Self.send(lines.joined(), to: client) }
        for client in clients {
            for number in 0..<100 { #expect(try client.answer()["id"] == .integer(number)) }
        }
        let longest = try #require(lines.map(\.utf8.count).max())
        #expect(harness.server.sync { $0.intake.peakBytes } < limits.userBytes + longest)
    }

    @Test func whoeverHoldsMuchLeavesOthersTheirs() throws {
        var limits = IntakeLimits()
        limits.totalBytes = 8_192
        limits.floorBytes = 2_048
        let harness = try ServerHarness(intake: limits, stallTimeoutMilliseconds: 600_000)
        let flood = try harness.connect()
        let other = try harness.connect(uid: ServerHarness.otherUID)
        let gate = Self.holdUp(harness)
        Self.send((0..<200).map { Self.submit($0, padding: 500) }.joined(), to: flood)
        #expect(Patience.until { harness.server.sync { $0.intake.bytes } >= limits.totalBytes })
        // Of the other user a first request is taken up all the same, and a second one, which hello shows.
        other.send(Array(Self.submit(1).utf8))
        #expect(try other.ask("hello").result != nil)
        gate.signal()
        #expect(try other.answer().result != nil)
        for number in 0..<200 { #expect(try flood.answer()["id"] == .integer(number)) }
        #expect(harness.server.sync { $0.intake.bytes } == 0)
    }

    @Test func aSlowReaderGetsEveryAnswerWhole() throws {
        let harness = try ServerHarness(stallTimeoutMilliseconds: 600_000)
        let client = try harness.connect()
        Self.send((0..<4_000).map { Self.submit($0) }.joined(), to: client)
        // More answers than the socket holds: the rest waits in the server.
        #expect(Patience.until { harness.server.sync { $0.connections.values.contains { !$0.output.isEmpty } } })
        var text: [UInt8] = []
        var lines = 0
        while lines < 4_000 {
            let piece = try client.descriptor.read(limitBytes: 97)
            try #require(!piece.isEmpty)
            text += piece
            lines += piece.count { $0 == 0x0A }
        }
        for (number, line) in text.split(separator: 0x0A).enumerated() {
            #expect(try JSONParser.parse(Array(line))["id"] == .integer(number))
        }
    }

    @Test func submitsAndNonsenseInOneStreamGetTheirOwnAnswers() throws {
        let harness = try ServerHarness()
        let client = try harness.connect()
        let unknown = #""method":"submit","params":{"kind":"score","game":"minesweeper","leaderboard":"no","value":1}}"#
        var text = ""
        for number in 0..<200 {
            let start = #"{"jsonrpc":"2.0","id":\#(number),"#
            let line =
                switch number % 5 {
                case 0: start + unknown + "\n"
                case 1: start + "nonsense\n"
                case 2: start + #""method":"nonsense"}"# + "\n"
                case 3: "[" + Self.submit(number).dropLast() + ",7]\n"
                default: Self.submit(number)
                }
            text += line
        }
        client.send(Array(text.utf8))
        var seen: [String: [Int64]] = [:]
        for _ in 0..<200 {
            let answer = try client.answer()
            let first = answer.arrayValue?.first ?? answer
            let kind = answer.arrayValue == nil ? first.reason ?? "accepted" : "batch"
            if kind == "batch" { #expect(answer.arrayValue?.last?.reason == "invalid-request") }
            seen[kind, default: []].append(first["id"]?.int64Value ?? -1)
        }
        func numbers(_ rest: Int64) -> [Int64] { (0..<40).map { $0 * 5 + rest } }
        #expect(seen["unknown-leaderboard"] == numbers(0))
        #expect(seen["parse-error"] == [Int64](repeating: -1, count: 40))
        #expect(seen["unknown-method"] == numbers(2))
        #expect(seen["batch"] == numbers(3))
        #expect(seen["accepted"] == numbers(4))
    }
}
