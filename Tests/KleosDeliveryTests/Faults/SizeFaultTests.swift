import Glibc
import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

/// Bodies that are too large, as they come or once unpacked.
@Suite(.timeLimit(.minutes(30))) struct SizeFaultTests {
    /// A gigabyte of zeros in less than 7 MB: a block of fixed Huffman codes (RFC 1951), a zero and then again and
    /// again "258 bytes from one byte back", whose 13 bits repeat every 13 bytes. It does not end, as a bomb need not.
    private static let deflatedGigabyte: [UInt8] = {
        let copy: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0]
        let start: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0] + copy.prefix(5)
        var bytes = packed(start)
        let cycle = packed((0..<104).map { copy[($0 + 5) % 13] })
        for _ in 0..<(1_073_741_824 / 258 / 8) { bytes += cycle }
        return bytes
    }()

    /// Bits to bytes, the lowest first.
    private static func packed(_ bits: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
        }
    }

    private static let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + deflatedGigabyte
    private static let zlib: [UInt8] = [0x78, 0x9C] + deflatedGigabyte

    private func answer(_ field: String, _ body: [UInt8], hasLength: Bool = true) -> RawServer.Reply {
        let length = hasLength ? "Content-Length: \(body.count)\r\n" : ""
        return .bytes(Array("HTTP/1.1 200 OK\r\n\(field)\r\n\(length)\r\n".utf8) + body)
    }

    /// The most memory that this process had, in bytes.
    private func peakBytes() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }

    @Test func aBombIsNeitherUnpackedNorTakenInBeyondTheLimit() throws {
        let before = peakBytes()
        var played = 0
        for (coding, body) in [
            ("gzip", Self.gzip), ("deflate", Self.zlib), ("gzip, gzip", Self.gzip), ("br", Self.gzip),
        ] {
            let server = try RawServer(answer("Content-Encoding: \(coding)", body))
            let packed = try sharedLine.begin(post(server.url, maximumAnswerBytes: 8 << 20)).answer()
            #expect(packed.body == body, "it stays packed")
            #expect(
                try sharedLine.begin(post(server.url)).failure().kind == .tooLarge, "the usual limit")
            let verdict = OutcomeRules.judge(
                try sharedLine.begin(post(server.url, maximumAnswerBytes: 8 << 20)).result(),
                hadUnansweredAttempt: false, nowMilliseconds: 0)
            #expect(verdict.outcome == .retry && verdict.mayHaveTakenEffect)
            played += 1
        }
        // libcurl undoes codings of the transfer that nobody asked for; then the limit counts what comes out.
        for (coding, body) in [("gzip", Self.gzip), ("deflate", Self.zlib)] {
            let server = try RawServer(
                answer("Transfer-Encoding: \(coding)\r\nConnection: close", body, hasLength: false))
            let exchange = sharedLine.begin(post(server.url))
            #expect(try exchange.failure().kind == .tooLarge)
            #expect(try exchange.result().didSendRequest)
            #expect(server.waitForDeparture(), "the connection is given up")
            played += 1
        }
        let grownBytes = peakBytes() - before
        #expect(!TestStage.isMemoryTelling || grownBytes < 300 << 20, "a gigabyte was never there")
        TestStage.report("fault endpoint", "\(played) compression bombs of 1 GB; memory grew by \(grownBytes >> 20) MB")
    }

    @Test func oversizedBodiesLoseNothing() throws {
        let large = accepted.dropLast() + #","rank":1,"x":""# + String(repeating: "x", count: 300_000) + #""}"#
        let fitting = accepted.dropLast() + #","x":""# + String(repeating: "x", count: 200_000) + #""}"#
        let deep =
            accepted.dropLast() + #","x":"# + String(repeating: "[", count: 9_000)
            + String(repeating: "]", count: 9_000) + "}"
        try FaultBench.play(
            "oversized bodies",
            [
                EndpointFault("200 KB", .answer(.http("200 OK", body: String(fitting))), .delivered, nil),
                .unclear("300 KB", .answer(.http("200 OK", body: String(large))), "more than 262144 bytes"),
                .unclear(
                    "300 KB in a refusal", .answer(.http("422 No", body: String(large))), "more than 262144 bytes"),
                .unclear(
                    "300 KB that never end",
                    .endless(head: "HTTP/1.1 200 OK\r\n\r\n", block: String(repeating: " ", count: 4_096)),
                    "more than 262144 bytes"),
                .unclear(
                    "one piece of a terabyte",
                    .endless(
                        head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
                        block: String(repeating: " ", count: 4_096)), "more than 262144 bytes"),
                .unclear("9,000 lists deep", .answer(.http("200 OK", body: String(deep))), "breaks off or is wrong"),
            ])
    }
}
