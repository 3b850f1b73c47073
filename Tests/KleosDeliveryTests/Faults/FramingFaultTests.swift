import KleosModel
import Testing

/// Answers whose length, pieces or header fields are wrong.
@Suite(.timeLimit(.minutes(30))) struct FramingFaultTests {
    private static let count = accepted.utf8.count

    private static func lengths(_ fields: String..., body: String = accepted) -> RawServer.Reply {
        let head = ["HTTP/1.1 200 OK"] + fields.map { "Content-Length: \($0)" }
        return .answerThenClose(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    private static func chunked(_ body: String) -> RawServer.Reply {
        .answerThenClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    }

    private static let size = String(count, radix: 16)

    private static let wrongLengths: [EndpointFault] = [
        .unclear("too small", lengths("5"), "breaks off or is wrong"),
        .unclear("one too small", lengths("\(count - 1)"), "breaks off or is wrong"),
        .unclear("zero", lengths("0"), "nothing after it"),
        .unclear("one too large", lengths("\(count + 1)"), "broke off"),
        .unclear("far too large", lengths("4000000"), "broke off"),
        .unclear("negative", lengths("-1"), "broke off"),
        .unclear("text", lengths("many"), "broke off"),
        .unclear("hexadecimal", lengths("0x12"), ""),
        .unclear("two, first right", lengths("\(count)", "5"), ""),
        .unclear("two, last too large", lengths("\(count)", "\(count + 5)"), ""),
        EndpointFault("right twice", lengths("\(count)", "\(count)"), .delivered, nil),
        EndpointFault(
            "right with chunks beside it",
            .answerThenClose(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(accepted)\r\n0\r\n\r\n"
            ), .delivered, nil),
        EndpointFault(
            "none, closed at the end", .answerThenClose("HTTP/1.1 200 OK\r\n\r\n" + accepted), .delivered, nil),
        .unclear(
            "none, JSON cut off", .answerThenClose("HTTP/1.1 200 OK\r\n\r\n" + accepted.dropLast()),
            "breaks off or is wrong"),
        .unclear("none, reset at the end", .answerThenReset("HTTP/1.1 200 OK\r\n\r\n" + accepted), "broke off"),
    ]

    private static let chunks: [EndpointFault] = [
        EndpointFault("whole", chunked("\(size)\r\n\(accepted)\r\n0\r\n\r\n"), .delivered, nil),
        EndpointFault(
            "whole with trailers and extensions", chunked("\(size);a=b\r\n\(accepted)\r\n0\r\nX: y\r\n\r\n"),
            .delivered, nil),
        EndpointFault(
            "byte by byte", chunked(accepted.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"), .delivered, nil),
        .unclear("size is no number", chunked("zz\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("size is empty", chunked("\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("size is negative", chunked("-5\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("size is huge", chunked("ffffffffffffffff\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("size has twenty digits", chunked("fffffffffffffffffffff\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("size is too small", chunked("5\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("size is too large", chunked("7f\r\n\(accepted)\r\n0\r\n\r\n"), "broke off"),
        .unclear("no line end after the piece", chunked("\(size)\r\n\(accepted)0\r\n\r\n"), "broke off"),
        .unclear("no last piece", chunked("\(size)\r\n\(accepted)\r\n"), "broke off"),
        .unclear("no end of the trailers", chunked("\(size)\r\n\(accepted)\r\n0\r\n"), "broke off"),
        EndpointFault("one byte short of its end", chunked("\(size)\r\n\(accepted)\r\n0\r\n\r"), .delivered, nil),
        .unclear("ends at once", chunked("0\r\n\r\n"), "nothing after it"),
        .unclear("no pieces at all", chunked(accepted), "broke off"),
    ]

    private static func head(_ fields: String) -> RawServer.Reply {
        .answerThenClose("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(count)\r\n\r\n\(accepted)")
    }

    private static let heads: [EndpointFault] = [
        EndpointFault(
            "lines end with LF alone", .answerThenClose("HTTP/1.1 200 OK\nContent-Length: \(count)\n\n\(accepted)"),
            .delivered, nil),
        EndpointFault("a folded line", head("X: a\r\n b\r\n"), .delivered, nil),
        EndpointFault("a field of 64 KB", head("X: \(String(repeating: "y", count: 65_000))\r\n"), .delivered, nil),
        EndpointFault(
            "bytes that are no text",
            .bytes(
                Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xFF, 0xFE]
                    + Array("\r\nContent-Length: \(count)\r\n\r\n\(accepted)".utf8)), .delivered, nil),
        EndpointFault(
            "another host's cookies",
            head(
                "Set-Cookie: a=b; Domain=example.org\r\nAlt-Svc: h3=\":1\"; ma=99\r\nStrict-Transport-Security: max-age=99\r\n"
            ), .delivered, nil),
        .unclear("a field of 200 KB", head("X: \(String(repeating: "y", count: 200_000))\r\n"), "broke off"),
        .unclear(
            "fields of 1 MB in all",
            head(String(repeating: "X: \(String(repeating: "y", count: 1_000))\r\n", count: 1_000)), "header fields"),
        .unclear("a NUL in a field", head("X: a\u{0}b\r\n"), "broke off"),
        .unclear("a line without a colon", head("nonsense\r\n"), ""),
        .unclear(
            "status line of 200 KB",
            .answerThenClose("HTTP/1.1 200 \(String(repeating: "O", count: 200_000))\r\n\r\n\(accepted)"), "broke off"),
        .unclear(
            "an unknown transfer coding",
            .answerThenClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\n\(accepted)"), ""),
        .unclear(
            "six transfer codings",
            .answerThenClose(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, gzip, gzip, gzip, gzip, gzip\r\n\r\n\(accepted)"),
            "broke off"),
    ]

    @Test func lengthsThatAreWrong() throws { try FaultBench.play("wrong lengths", Self.wrongLengths) }
    @Test func piecesThatAreWrong() throws { try FaultBench.play("odd and bad chunks", Self.chunks) }
    @Test func headersThatAreOdd() throws { try FaultBench.play("odd and oversized headers", Self.heads) }
}
