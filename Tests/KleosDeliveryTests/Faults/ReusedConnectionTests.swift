import KleosDelivery
import KleosModel
import Testing

/// Connections that are used again, where the server does something odd between two requests.
@Suite(.timeLimit(.minutes(3))) struct ReusedConnectionTests {
    /// libcurl repeats a request by itself where a used connection turns out to be dead; then nobody can be reached, but
    /// the first request went out.
    @Test func aRequestThatWentOutBeforeTheServerLeftCountsAsSent() throws {
        let transport = CurlTransport(userAgent: "kleos-tests")
        let server = try RawServer(.answer(.http("200 OK", body: "{}")), .closeForGood)
        _ = try Exchange(post(server.url), over: transport).answer()
        let exchange = Exchange(post(server.url), over: transport)
        _ = try exchange.failure()
        #expect(server.requests.count == 2)
        #expect(try exchange.result().didSendRequest)
    }
}
