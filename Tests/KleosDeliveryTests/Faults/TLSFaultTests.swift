import Dispatch
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// What goes wrong before a secure connection stands, and between plain and secure servers.
@Suite(.enabled(if: TestCertificate.isAvailable, TestCertificate.need), .timeLimit(.minutes(30)))
struct TLSFaultTests {
    private static let whole = RawServer.Reply.answer(.http("200 OK", body: accepted))

    /// A certificate is trouble of the endpoint, never an event's: nothing ends, even where a second send would count.
    @Test(arguments: [ResendEffect.keyed, .accumulates])
    func aWrongCertificateLosesNothing(_ resend: ResendEffect) throws {
        let certificate = try TestCertificate()
        let server = try RawServer([Self.whole], tls: TLSContext(certificate))
        let delivery = try LiveDelivery(quick(server.url) { $0.resend = resend })
        let keys = try (0..<5).map { try delivery.submit($0, player: "p\($0)") }
        #expect(delivery.wait { $0.settled.values.reduce(0, +) >= 10 }, "it is tried again and again")
        let condition = try #require(delivery.conditions().first)
        #expect(condition.kind == .failing)
        #expect(condition.reason?.contains("the certificate is self-signed") == true)
        #expect(delivery.seen.value.count(.dead) == 0 && server.requests.isEmpty)
        delivery.configure([
            quick(server.url) {
                $0.resend = resend
                $0.certificateAuthorityFile = certificate.authorityFile
            }
        ])
        #expect(delivery.wait { $0.count(.delivered) == 5 }, "\(delivery.leftovers())")
        #expect(server.requests.count == 5)
        #expect(try keys.allSatisfy { try delivery.delivery($0)?.attempts.last?.outcome == .delivered })
        delivery.stop()
    }

    @Test func plainHTTPToASecureServerIsNoAnswer() throws {
        let server = try RawServer([Self.whole], tls: TLSContext(TestCertificate()))
        let exchange = sharedLine.begin(post("http://\(server.address)"))
        #expect(try exchange.failure().kind == .broken)
        #expect(try exchange.result().didSendRequest)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        "", "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{2}no", "SSH-2.0-x\r\n",
    ])
    func whatIsNoHandshakeIsNoConnection(_ greeting: String) throws {
        let listener = try RawListener { descriptor in
            let stream = PlainStream(descriptor: descriptor)
            _ = stream.read()
            _ = stream.write(Array(greeting.utf8))
            stream.close()
        }
        let exchange = sharedLine.begin(post("https://\(listener.address)"))
        #expect(try exchange.failure().kind == .tls)
        #expect(try !exchange.result().didSendRequest, "so that it is repeated even where it would count twice")
    }
}
