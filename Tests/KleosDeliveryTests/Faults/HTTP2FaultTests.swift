import KleosDelivery
import KleosModel
import KleosStore
import KleosTestSupport
import Testing

/// What can go wrong over HTTP/2 alone: streams that are refused, reset or cut short.
@Suite(.enabled(if: TestCertificate.isAvailable, TestCertificate.need), .timeLimit(.minutes(3)))
struct HTTP2FaultTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [HTTP2Server.Step]
        /// Nil where nobody can say whether the event took effect; else how often a service that accumulates is asked.
        var requestsWhereOnlyOnce: Int?

        init(_ name: String, _ steps: HTTP2Server.Step..., requestsWhereOnlyOnce: Int? = nil) {
            testDescription = name
            self.steps = steps
            self.requestsWhereOnlyOnce = requestsWhereOnlyOnce
        }
    }

    private static let half = #"{"accepted""#

    static let rows = [
        Row("whole", .headers(status: 200), .data(accepted, ends: true), requestsWhereOnlyOnce: 1),
        Row(
            "whole, then GOAWAY", .headers(status: 200), .data(accepted, ends: true), .goAway(processed: true), .close,
            requestsWhereOnlyOnce: 1),
        Row(
            "whole, then RST_STREAM without error", .headers(status: 200), .data(accepted, ends: true), .reset(code: 0),
            requestsWhereOnlyOnce: 1),
        Row(
            "GOAWAY, then whole", .goAway(processed: true), .headers(status: 200), .data(accepted, ends: true), .close,
            requestsWhereOnlyOnce: 1),
        Row("GOAWAY before it", .goAway(processed: false), .close, requestsWhereOnlyOnce: 2),
        Row("GOAWAY before it, connection kept", .goAway(processed: false), requestsWhereOnlyOnce: 2),
        Row("GOAWAY before it with an error", .goAway(processed: false, code: 11), .close, requestsWhereOnlyOnce: 2),
        Row("REFUSED_STREAM", .reset(code: 7), requestsWhereOnlyOnce: 2),
        Row("GOAWAY after it, no answer", .goAway(processed: true), .close),
        Row("INTERNAL_ERROR", .reset(code: 2)),
        Row("CANCEL", .reset(code: 8)),
        Row("NO_ERROR without an answer", .reset(code: 0)),
        Row("reset after the headers", .headers(status: 200), .reset(code: 2)),
        Row("reset in the body", .headers(status: 200), .data(half), .reset(code: 2)),
        Row("reset without error in the body", .headers(status: 200), .data(half), .reset(code: 0)),
        Row("REFUSED_STREAM in the body", .headers(status: 200), .data(half), .reset(code: 7)),
        Row("closed without an answer", .close),
        Row("hung up without an answer", .hangUp),
        Row("closed after the headers", .headers(status: 200), .close),
        Row("closed in the body", .headers(status: 200), .data(half), .close),
        Row("hung up in the body", .headers(status: 200), .data(half), .hangUp),
        Row("hung up before the end", .headers(status: 200), .data(accepted), .hangUp),
        Row("closed before the end", .headers(status: 200), .data(accepted), .close),
        Row("GOAWAY in the body", .headers(status: 200), .data(half), .goAway(processed: true), .close),
        Row(
            "more than its length", .headers(status: 200, fields: [("content-length", "5")]),
            .data(accepted, ends: true)),
        Row(
            "less than its length", .headers(status: 200, fields: [("content-length", "99")]),
            .data(accepted, ends: true)),
        Row("no status", .raw(Frame(.headers, 1, flags: 4, [0, 1, 0x78, 1, 0x79]).bytes), .data(accepted, ends: true)),
        Row("broken compression of the headers", .raw(Frame(.headers, 1, flags: 4, [0xFF, 0xFF, 0xFF]).bytes)),
        Row("an endless frame", .raw([0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1])),
        Row("no frame", .raw(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)), .close),
        Row("body before the headers", .data(accepted, ends: true)),
    ]

    @Test func whatWasNotProcessedIsSentAgainAndWhatMayHaveBeenIsNotWhereItCounts() throws {
        let certificate = try TestCertificate()
        let tls = try TLSContext(certificate, speaksHTTP2: true)
        for resend in [ResendEffect.keyed, .accumulates] {
            let servers = try Self.rows.map { try HTTP2Server([$0.steps, HTTP2Server.whole], tls: tls) }
            let endpoints = servers.enumerated().map { index, server in
                quick(server.url, name: "e\(index)") {
                    $0.resend = resend
                    $0.certificateAuthorityFile = certificate.authorityFile
                }
            }
            let delivery = try LiveDelivery(endpoints)
            let keys = try endpoints.map { try delivery.submit(1, player: "ada", to: [$0.name]) }
            let isOver = delivery.wait { seen in
                seen.states.values.count { $0 == .delivered || $0 == .dead } == keys.count
            }
            #expect(isOver, "\(delivery.leftovers())")
            for (index, row) in Self.rows.enumerated() {
                let shown = try #require(try delivery.delivery(keys[index]))
                let comment: Comment = "\(row), \(resend): \(shown.attempts)"
                let bodies = servers[index].bodies
                #expect(Set(bodies).count == 1, "the same bytes each time: \(comment)")
                if resend == .keyed || row.requestsWhereOnlyOnce != nil {
                    #expect(shown.record.state == .delivered, comment)
                    #expect(bodies.count == row.requestsWhereOnlyOnce ?? 2, comment)
                } else {
                    #expect(shown.record.reason == .ambiguous, comment)
                    #expect(bodies.count == 1, comment)
                }
            }
            delivery.stop()
        }
        let refused = Self.rows.count { $0.requestsWhereOnlyOnce == 2 }
        let unclear = Self.rows.count { $0.requestsWhereOnlyOnce == nil }
        TestStage.report(
            "fault endpoint", "\(Self.rows.count) of HTTP/2: \(refused) refused and sent again, \(unclear) cut short")
    }
}
