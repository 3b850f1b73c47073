import Dispatch
import KleosDelivery
import KleosModel
import KleosTestSupport
import Synchronization
import Testing

/// Connections that are used again, where the server does something odd between two requests.
@Suite(.timeLimit(.minutes(30))) struct ReusedConnectionTests {
    /// Serves two requests: between them it says something that nobody asked for.
    private final class TalkativeServer: Sendable {
        let listener: RawListener
        let mayTalk = DispatchSemaphore(value: 0)
        let hasTalked = DispatchSemaphore(value: 0)

        init(unasked: String) throws {
            let (mayTalk, hasTalked) = (mayTalk, hasTalked)
            let isFirst = Mutex(true)
            listener = try RawListener { descriptor in
                let stream = PlainStream(descriptor: descriptor)
                let talks = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                while stream.read() != nil {
                    guard stream.write(Array(String.http("200 OK", body: #"{"own":true}"#).utf8)) else { return }
                    guard talks else { continue }
                    mayTalk.wait()
                    _ = stream.write(Array(unasked.utf8))
                    hasTalked.signal()
                }
            }
        }
    }

    /// An answer that was there before the request says nothing about it.
    @Test(arguments: [
        String.http("200 OK", body: #"{"accepted":true}"#), .http("408 Request Timeout", ["Connection: close"]), "x",
    ])
    func whatCameBeforeTheRequestIsNotItsAnswer(_ unasked: String) throws {
        let transport = CurlTransport(userAgent: "kleos-tests")
        let server = try TalkativeServer(unasked: unasked)
        let url = "http://\(server.listener.address)"
        #expect(try Exchange(post(url), over: transport).answer().body == Array(#"{"own":true}"#.utf8))
        server.mayTalk.signal()
        #expect(server.hasTalked.wait(timeout: Patience.end) == .success)
        #expect(try Exchange(post(url), over: transport).answer().body == Array(#"{"own":true}"#.utf8))
        server.mayTalk.signal()
    }

    /// libcurl repeats a request by itself where a used connection turns out to be dead; then nobody can be reached,
    /// but the first request went out.
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
