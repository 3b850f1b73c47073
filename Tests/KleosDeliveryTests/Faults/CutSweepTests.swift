import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

/// Confirmations that are cut off after each of their bytes, met by a worker with a real store.
@Suite(.timeLimit(.minutes(30))) struct CutSweepTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var whole: String
        var isSecure = false
    }

    private static let wholes = [
        ("with a length", "HTTP/1.1 200 OK\r\nContent-Length: \(accepted.utf8.count)\r\n\r\n\(accepted)"),
        ("in pieces", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n\(accepted)\r\n0\r\n\r\n"),
        ("with neither", "HTTP/1.1 200 OK\r\n\r\n\(accepted)"),
    ]

    static let shapes = [false, true].flatMap { isSecure in
        wholes.map { Shape(testDescription: "\($0)\(isSecure ? " over TLS" : "")", whole: $1, isSecure: isSecure) }
    }

    /// Answers that end too early, by a reset and by an orderly end in turns; what is left out of the pieces' end are
    /// two bytes that nobody misses.
    private static func cuts(of whole: String) -> [RawServer.Reply] {
        let count = whole.hasSuffix("\r\n\r\n") ? whole.utf8.count - 2 : whole.utf8.count
        let wanted = min(count, TestStage.size("CUTS", usual: 12, long: 1_000))
        return (0..<wanted).map { $0 * count / wanted }.flatMap {
            [.answerThenReset(whole.bytes($0)), .answerThenClose(whole.bytes($0))]
        }
    }

    private func endpoint(_ server: RawServer, _ resend: ResendEffect, _ certificate: TestCertificate?) -> Endpoint {
        quick(server.url) {
            $0.resend = resend
            $0.retry = RetryPolicy(baseMilliseconds: 1, capMilliseconds: 1, floorMilliseconds: 1)
            $0.maximumInFlight = 1
            $0.certificateAuthorityFile = certificate?.authorityFile
        }
    }

    @Test(arguments: shapes.filter { !$0.isSecure || TestCertificate.isAvailable })
    func aCutAnswerConfirmsNothing(_ shape: Shape) throws {
        let certificate = try shape.isSecure ? TestCertificate() : nil
        let tls = try certificate.map { try TLSContext($0) }
        let cuts = Self.cuts(of: shape.whole)
        try sendUntilWhole(cuts, RawServer(cuts + [.answerThenClose(shape.whole)], tls: tls), certificate)
        try sendOnce(cuts, RawServer(cuts + [.answerThenClose(shape.whole)], tls: tls), certificate)
        TestStage.report(
            "fault endpoint",
            "\(cuts.count) cuts of an answer \(shape.testDescription) at services of both kinds: 0 confirmed")
    }

    /// One event at a service that knows keys: it is sent with the same bytes until an answer comes whole.
    private func sendUntilWhole(
        _ cuts: [RawServer.Reply], _ server: RawServer, _ certificate: TestCertificate?
    ) throws {
        let delivery = try LiveDelivery(endpoint(server, .keyed, certificate))
        let key = try delivery.submit(1, player: "ada")
        #expect(delivery.wait { $0.count(.delivered) == 1 }, "\(delivery.leftovers())")
        #expect(server.requests.count == cuts.count + 1, "none was taken for whole, none was sent twice")
        #expect(Set(server.requests).count == 1, "the same bytes each time")
        let shown = try #require(try delivery.delivery(key))
        #expect(shown.record.attempts == cuts.count + 1)
        #expect(shown.attempts.dropLast().allSatisfy { $0.outcome == .retry && $0.error != nil })
        delivery.stop()
    }

    /// An event for each cut at a service where a second send would count: each is sent once, and shown.
    private func sendOnce(_ cuts: [RawServer.Reply], _ server: RawServer, _ certificate: TestCertificate?) throws {
        let delivery = try LiveDelivery(endpoint(server, .accumulates, certificate))
        let keys = try cuts.indices.map { try delivery.submit(1, player: "p\($0)") }
        #expect(
            delivery.wait { $0.count(.dead) + $0.count(.delivered) == cuts.count }, "\(delivery.leftovers())")
        #expect(server.requests.count == cuts.count, "nothing was sent twice")
        for key in keys { #expect(try delivery.delivery(key)?.record.reason == .ambiguous) }
        let last = try delivery.submit(1, player: "last")
        #expect(delivery.wait { $0.states["\(last) home"] == .delivered }, "\(delivery.leftovers())")
        delivery.stop()
    }
}
