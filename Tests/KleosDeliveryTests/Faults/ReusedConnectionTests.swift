import Dispatch
import Glibc
import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
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
    @Test(
        arguments: [
            String.http("200 OK", body: #"{"accepted":true}"#), .http("408 Request Timeout", ["Connection: close"]),
            "x",
        ], [false, true])
    func whatCameBeforeTheRequestIsNotItsAnswer(_ unasked: String, mustGoOutOnce: Bool) throws {
        let line = Line()
        let server = try TalkativeServer(unasked: unasked)
        let url = "http://\(server.listener.address)"
        let request = post(url, mustGoOutOnce: mustGoOutOnce)
        #expect(try line.begin(request).answer().body == Array(#"{"own":true}"#.utf8))
        server.mayTalk.signal()
        #expect(server.hasTalked.wait(timeout: Patience.end) == .success)
        #expect(try line.begin(request).answer().body == Array(#"{"own":true}"#.utf8))
        server.mayTalk.signal()
    }

    /// libcurl repeats a request by itself where a used connection turns out to be dead; then nobody can be reached,
    /// but the first request went out.
    @Test func aRequestThatWentOutBeforeTheServerLeftCountsAsSent() throws {
        let line = Line()
        let server = try RawServer(.answer(.http("200 OK", body: "{}")), .closeForGood)
        _ = try line.begin(post(server.url)).answer()
        let exchange = line.begin(post(server.url))
        _ = try exchange.failure()
        #expect(server.requests.count == 2)
        #expect(try exchange.result().didSendRequest)
    }

    @Test(arguments: [false, true]) func oneConnectionCarriesAllThatFollowEachOther(mustGoOutOnce: Bool) throws {
        let line = Line()
        let server = try RawServer(.answer(.http("200 OK", body: "{}")))
        let request = post(server.url, mustGoOutOnce: mustGoOutOnce)
        for _ in 0..<50 { _ = try line.begin(request).answer() }
        #expect(server.requests.count == 50)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [false, true]) func asManyConnectionsAsRequestsAtATime(mustGoOutOnce: Bool) throws {
        let line = Line()
        let server = try RawServer(.answer(.http("200 OK", body: "{}")))
        let request = post(server.url, mustGoOutOnce: mustGoOutOnce)
        for _ in 0..<10 {
            for exchange in line.begin(Array(repeating: request, count: 8)) { _ = try exchange.answer() }
        }
        #expect(server.requests.count == 80)
        #expect(server.connectionCount <= 8)
    }

    /// How a server ends a connection that it has not said it would end.
    @Test(arguments: [false, true], [false, true])
    func aServerThatLeavesAfterEachAnswerIsToldNothingTwice(mustGoOutOnce: Bool, onlyStopsTalking: Bool) throws {
        let line = Line()
        let requests = Mutex<[String]>([])
        let hasLeft = DispatchSemaphore(value: 0)
        let listener = try RawListener { descriptor in
            let stream = PlainStream(descriptor: descriptor)
            var isFirst = true
            while let bytes = stream.read() {
                requests.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
                guard isFirst else { continue }
                isFirst = false
                _ = stream.write(Array(String.http("200 OK", body: "{}").utf8))
                shutdown(descriptor.number, Int32(onlyStopsTalking ? SHUT_WR : SHUT_RDWR))
                hasLeft.signal()
            }
        }
        for number in 0..<10 {
            var request = post("http://\(listener.address)", mustGoOutOnce: mustGoOutOnce)
            request.body = Array("\(number)".utf8)
            _ = try line.begin(request).answer()
            #expect(hasLeft.wait(timeout: Patience.end) == .success)
        }
        #expect(requests.withLock { $0.map { $0.suffix(1) } } == (0..<10).map { "\($0)" })
        #expect(listener.connectionCount == 10)
    }

    @Test func whatMustGoOutOnceIsNotRepeatedWhereTheServerLeavesMeanwhile() throws {
        let line = Line()
        let whole = RawServer.Reply.answer(.http("200 OK", body: "{}"))
        let server = try RawServer(whole, .answerThenClose(""), whole)
        let request = post(server.url, mustGoOutOnce: true)
        _ = try line.begin(request).answer()
        let exchange = line.begin(request)
        #expect(try exchange.failure().message.contains("left a connection that it had kept open"))
        #expect(try exchange.result().didSendRequest)
        #expect(server.requests.count == 2, "it was not sent again")
        // Such a server is trusted with nothing of the kind for a while.
        for _ in 0..<2 { _ = try line.begin(request).answer() }
        #expect(server.requests.count == 4)
        // One of them was made for the repetition that did not happen.
        #expect(server.connectionCount == 4)
        // What may be repeated still takes what there is.
        for _ in 0..<2 { _ = try line.begin(post(server.url)).answer() }
        #expect(server.connectionCount == 4)
    }

    /// libcurl counts these over the life of a handle, and gives up at the sixth.
    @Test func manyRepetitionsOneAfterTheOtherAllSucceed() throws {
        let line = Line()
        let whole = RawServer.Reply.answer(.http("200 OK", body: "{}"))
        let server = try RawServer([whole] + (0..<8).flatMap { _ in [.answerThenClose(""), whole] })
        let request = post(server.url)
        for _ in 0..<9 { _ = try line.begin(request).answer() }
        #expect(server.requests.count == 17)
    }

    @Test func whatMustGoOutOnceTakesNoConnectionThatWasIdleForLong() throws {
        let line = Line(idleMillisecondsForOnce: -1)
        let server = try RawServer(.answer(.http("200 OK", body: "{}")))
        let request = post(server.url, mustGoOutOnce: true)
        for _ in 0..<3 { _ = try line.begin(request).answer() }
        #expect(server.connectionCount == 3)
        for _ in 0..<3 { _ = try line.begin(post(server.url)).answer() }
        #expect(server.connectionCount == 3)
    }

    /// The server answers when it has seen the header fields, and reads the rest later.
    @Test(arguments: ["200 OK", "413 Content Too Large"], [false, true])
    func anEarlyAnswerIsTheAnswerAndHarmsNoOther(_ status: String, mustGoOutOnce: Bool) throws {
        let line = Line()
        let body = String(repeating: "x", count: 4 << 20)
        let count = Mutex(0)
        let listener = try RawListener { descriptor in
            let stream = PlainStream(descriptor: descriptor)
            var rest = 0
            while let bytes = stream.read() {
                rest -= bytes.count
                guard rest < 0, let end = String(decoding: bytes, as: UTF8.self).firstRange(of: "\r\n\r\n") else {
                    continue
                }
                let head = String(decoding: bytes, as: UTF8.self)[..<end.upperBound].utf8.count
                rest = body.utf8.count - (bytes.count - head)
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                _ = stream.write(Array(String.http(status, body: "\(number)").utf8))
            }
        }
        for number in 1...3 {
            let request = post("http://\(listener.address)", body: body, mustGoOutOnce: mustGoOutOnce)
            #expect(try line.begin(request).answer().body == Array("\(number)".utf8))
        }
        #expect(count.withLock { $0 } == 3)
    }

    /// Each answer comes in one piece with the end of its connection, unannounced.
    @Test(arguments: [ResendEffect.keyed, .accumulates])
    func deliveriesGetThroughToAServerThatKeepsNoConnection(_ resend: ResendEffect) throws {
        let requests = Mutex<[String]>([])
        let listener = try RawListener { descriptor in
            let stream = PlainStream(descriptor: descriptor)
            while let bytes = stream.read() {
                requests.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
                // TCP_CORK holds the answer back until the end comes.
                var yes: Int32 = 1
                setsockopt(descriptor.number, Int32(IPPROTO_TCP), 3, &yes, 4)
                _ = stream.write(Array(String.http("200 OK", body: accepted).utf8))
                shutdown(descriptor.number, Int32(SHUT_WR))
            }
        }
        try deliverAll(to: "http://\(listener.address)", resend, count: 60)
        #expect(requests.withLock { $0.count } == 60, "nothing was sent twice")
    }

    @Test(arguments: [ResendEffect.keyed, .accumulates])
    func deliveriesTakeAsManyConnectionsAsMayBeInFlight(_ resend: ResendEffect) throws {
        let server = try RawServer(.answer(.http("200 OK", body: accepted)))
        try deliverAll(to: server.url, resend, count: 60)
        #expect(server.requests.count == 60)
        #expect(server.connectionCount <= 4)
    }

    private func deliverAll(to url: String, _ resend: ResendEffect, count: Int) throws {
        let endpoint = quick(url) {
            $0.resend = resend
            $0.maximumInFlight = 4
        }
        let delivery = try LiveDelivery(
            endpoint, transport: CurlTransport(userAgent: "kleos-tests", idleMillisecondsForOnce: 600_000))
        let keys = try (0..<count).map { try delivery.submit(Int64($0), player: "p\($0)") }
        #expect(delivery.wait { $0.count(.delivered) == count }, "\(delivery.leftovers())")
        for key in keys { #expect(try delivery.delivery(key)?.attempts.count == 1, "nobody saw a failure") }
        delivery.stop()
    }
}
