import Dispatch
import KleosDelivery
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30))) struct CurlTransportTests {
    private func send(_ request: TransportRequest) -> Exchange { sharedLine.begin(request) }

    @Test func aRequestGoesOutAsItIsAndTheAnswerComesBackWhole() throws {
        let fields = ["CONTENT-TYPE:  application/json ", "Retry-After: 7", "X-Other: 1", "Location: /x"]
        let server = try RawServer(.answer(.http("201 Created", fields, body: #"{"accepted":true}"#)))
        let exchange = send(
            post("\(server.url)/v1/scores", headers: [("Idempotency-Key", "\"k\"")], body: "a\u{0}é"))
        #expect(
            try exchange.answer()
                == TransportAnswer(
                    status: 201, body: Array(#"{"accepted":true}"#.utf8), contentType: "application/json",
                    retryAfter: "7", location: "/x"))
        #expect(try exchange.result().didSendRequest)
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /v1/scores HTTP/1.1\r\n"))
        #expect(request.hasSuffix("\r\n\r\na\u{0}é"))
        let names = request.split(separator: "\r\n").map { $0.lowercased() }
        #expect(names.contains("idempotency-key: \"k\"") && names.contains("user-agent: kleos-tests"))
        #expect(!names.contains { $0.hasPrefix("expect:") || $0.hasPrefix("accept-encoding:") })
    }

    @Test(arguments: [false, true]) func aChangeOfNetworkNeedsOneNewConnection(mustGoOutOnce: Bool) throws {
        let line = Line()
        let server = try RawServer(.answer(.http("200 OK", body: "{}")))
        let request = post(server.url, mustGoOutOnce: mustGoOutOnce)
        _ = try line.begin(request).answer()
        line.dropConnections()
        for _ in 0..<3 { _ = try line.begin(request).answer() }
        #expect(server.connectionCount == 2)
    }

    @Test func whatEndsTogetherIsToldTogether() throws {
        let line = Line()
        for exchange in line.begin(Array(repeating: post("nonsense"), count: 7)) { _ = try exchange.failure() }
        #expect(line.bursts.value == [7])
    }

    @Test func interimAnswersAreNotTheAnswer() throws {
        let server = try RawServer(
            .answer("HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n" + .http("200 OK", body: "{}")))
        let answer = try send(post(server.url)).answer()
        #expect(answer.status == 200)
        #expect(answer.retryAfter == nil)
    }

    @Test("S-50: redirects are not followed") func redirectsAreNotFollowed() throws {
        let target = try RawServer(.answer(.http("200 OK", body: "{}")))
        let server = try RawServer(.answer(.http("307 Temporary Redirect", ["Location: \(target.url)/v1/scores"])))
        let answer = try send(post(server.url, headers: [("Authorization", "Bearer hunter2")])).answer()
        #expect(answer.status == 307)
        #expect(answer.location == "\(target.url)/v1/scores")
        #expect(target.connectionCount == 0)
    }

    @Test(arguments: [
        RawServer.Reply.answerThenClose(""), .answerThenReset(""),
        .answerThenClose("HTTP/1.1 200 OK\r\nContent-Le"),
        .answerThenReset("HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{\"accepted"),
        .answerThenClose("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"accepted\":true}"),
        .answerThenClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{\"accepted\":true}\r\n"),
        .answerThenClose("SSH-2.0-OpenSSH_9.2\r\n"), .answerThenClose("\u{16}\u{3}\u{1}\u{0}"),
    ])
    func anAnswerThatIsNotWholeIsNone(_ reply: RawServer.Reply) throws {
        let server = try RawServer(reply)
        let exchange = send(post(server.url))
        #expect(try exchange.failure().kind == .broken)
        #expect(try exchange.result().didSendRequest)
    }

    @Test("S-54: silence ends with the time-out") func silenceEndsWithTheTimeOut() throws {
        let server = try RawServer(.silence)
        let exchange = send(post(server.url, timeoutMilliseconds: 3_000))
        #expect(try exchange.failure().kind == .timeout)
        #expect(try exchange.result().didSendRequest)
        #expect(try exchange.result().durationMilliseconds >= 2_990)
    }

    @Test("S-54: an answer that trickles in ends with the time-out, too")
    func anAnswerThatTricklesInEndsWithTheTimeOutToo() throws {
        let server = try RawServer(.answer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"))
        #expect(try send(post(server.url, timeoutMilliseconds: 3_000)).failure().kind == .timeout)
    }

    @Test("S-53: an endless answer is cut off") func anEndlessAnswerIsCutOff() throws {
        let server = try RawServer(
            .endless(head: "HTTP/1.1 200 OK\r\n\r\n", block: String(repeating: " ", count: 65_536)))
        let exchange = send(post(server.url, maximumAnswerBytes: 100_000))
        let failure = try exchange.failure()
        #expect(failure.kind == .tooLarge)
        #expect(failure.message.contains("100000"))
        #expect(server.waitForDeparture(), "the connection is given up")
    }

    @Test("S-53: endless header fields are cut off") func endlessHeadersAreCutOff() throws {
        let server = try RawServer(
            .endless(head: "HTTP/1.1 200 OK\r\n", block: "X: \(String(repeating: "y", count: 8_000))\r\n"))
        let failure = try send(post(server.url)).failure()
        #expect(failure.kind == .tooLarge)
        #expect(failure.message == "the answer's header fields have more than 65536 bytes")
        #expect(server.waitForDeparture(), "the connection is given up")
    }

    @Test func anAnswerOfExactlyTheLimitIsTaken() throws {
        let server = try RawServer(.answer(.http("200 OK", body: String(repeating: "x", count: 1_000))))
        #expect(try send(post(server.url, maximumAnswerBytes: 1_000)).answer().body.count == 1_000)
        #expect(try send(post(server.url, maximumAnswerBytes: 999)).failure().kind == .tooLarge)
    }

    @Test("S-53: compression is not undone") func compressionIsNotUndone() throws {
        let server = try RawServer(.answer(.http("200 OK", ["Content-Encoding: gzip"], body: "\u{1F}nothing")))
        #expect(try send(post(server.url)).answer().body == Array("\u{1F}nothing".utf8))
    }

    @Test func nobodyListeningIsRefused() throws {
        let server = try RawServer(.silence)
        let url = server.url
        server.stop()
        let exchange = send(post(url))
        #expect(try exchange.failure().kind == .refused)
        #expect(try !exchange.result().didSendRequest)
    }

    @Test func aNameThatDoesNotExistIsNotResolved() throws {
        let exchange = send(post("https://nobody.invalid/"))
        #expect(try exchange.failure().kind == .dns)
        #expect(try !exchange.result().didSendRequest)
    }

    @Test(
        "S-51: what is not safe never leaves",
        arguments: [
            "http://192.0.2.1/", "http://example.org/", "http://127.0.0.1.example.org/", "ftp://127.0.0.1/",
            "file:///etc/passwd",
            "gopher://127.0.0.1/", "", "nonsense",
        ])
    func whatIsNotSafeNeverLeaves(_ url: String) throws {
        let exchange = send(post(url, headers: [("Authorization", "Bearer hunter2")]))
        let failure = try exchange.failure()
        #expect(failure.kind == .unusable)
        #expect(!failure.message.contains("hunter2"))
        #expect(try !exchange.result().didSendRequest)
    }

    @Test func aServerWithoutTLSIsNoSecureOne() throws {
        let server = try PracticeServer()
        let exchange = send(post("https://\(server.address)/"))
        #expect(try exchange.failure().kind == .tls)
        #expect(try !exchange.result().didSendRequest)
        #expect(server.requestCount == 0)
    }

    @Test func afterAFailureAConnectionIsMadeAnewAndTheHandleIsClean() throws {
        let server = try RawServer(
            .answer(.http("200 OK", ["Retry-After: 5"], body: "first")), .answerThenReset("HTTP/1.1 200 OK\r\nConte"),
            .answer(.http("204 No Content")))
        #expect(try send(post(server.url)).answer().retryAfter == "5")
        _ = try send(post(server.url)).failure()
        // Not a fixed number: a machine that stood still between the first two has made a connection more.
        let before = server.connectionCount
        #expect(try send(post(server.url)).answer() == TransportAnswer(status: 204, body: []))
        #expect(server.connectionCount == before + 1)
    }

    @Test func cancellingEndsEverythingInFlightOnce() throws {
        let line = Line()
        let server = try RawServer(.silence)
        let exchanges = (0..<5).map { _ in line.begin(post(server.url)) }
        for _ in exchanges { #expect(server.waitForRequest()) }
        line.cancelAll()
        for exchange in exchanges {
            #expect(try exchange.failure().kind == .cancelled)
            #expect(try exchange.result().didSendRequest)
        }
    }

    @Test("the loop answers a check while transfers wait, and does not while it is stuck in one's completion")
    func checks() throws {
        let line = Line()
        let silent = try RawServer(.silence)
        let waiting = line.begin(post(silent.url))
        #expect(silent.waitForRequest())
        let checked = DispatchSemaphore(value: 0)
        line.check { checked.signal() }
        #expect(checked.wait(timeout: Patience.end) == .success)

        let (stuck, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        line.check {
            stuck.signal()
            free.wait()
        }
        stuck.wait()
        line.check { checked.signal() }
        #expect(checked.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        free.signal()
        #expect(checked.wait(timeout: Patience.end) == .success)
        line.cancelAll()
        _ = try waiting.failure()
    }

    @Test func aSlowOneHoldsUpNoOther() throws {
        let slow = try RawServer(.silence)
        let quick = try PracticeServer()
        let waiting = send(post(slow.url))
        #expect(slow.waitForRequest())
        let exchanges = (0..<200).map { _ in send(post("\(quick.url)/v1/scores")) }
        for exchange in exchanges { #expect(try exchange.answer().status == 400) }
        slow.stop()
        _ = try waiting.failure()
    }

    @Test func secretsAreInNoFailure() throws {
        let server = try RawServer(.answerThenReset("HTTP/1.1 200 OK\r\nX: hunt"))
        let failure = try send(post(server.url, headers: [("Authorization", "Bearer hunter2")], body: "hunter2"))
            .failure()
        #expect(!failure.message.contains("hunter2"))
    }
}
