import KleosJSON
import KleosPractice
import KleosSupport
import Testing

@Suite struct HTTPTests {
    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let practice = try Practice()
        let requests = (1...50).map { rawScore("k\($0)", value: "\(1000 - $0)", closing: $0 == 50) }.joined()
        let text = try practice.exchange(requests)
        let bests = text.matches(of: /"best":"([0-9]+)"/).map { String($0.1) }
        #expect(bests == (1...50).map { "\(1000 - $0)" })
    }

    @Test func aRequestMayComeByteByByte() throws {
        let practice = try Practice()
        let connection = try practice.open()
        for byte in rawScore("k1", closing: true).utf8 { try TCPSocket.sendAll([byte], on: connection) }
        let text = try SmallFile.read(from: connection, path: "answer", limitBytes: 65_536)
        #expect(String(decoding: text, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }

    @Test func aChunkedBodyIsPutTogether() throws {
        let practice = try Practice()
        let body = Array(score("k1").serialized.utf8)
        var text = "POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        text += "Idempotency-Key: \"k1\"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        for start in stride(from: 0, to: body.count, by: 17) {
            let chunk = body[start..<min(start + 17, body.count)]
            text += "\(String(chunk.count, radix: 16));note=1\r\n\(String(decoding: chunk, as: UTF8.self))\r\n"
        }
        #expect(try practice.exchange(text + "0\r\nTrailer: x\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(practice.server.requests.first?.request.body == body)
    }

    @Test func anExpectationIsMetBeforeTheBodyIsSent() throws {
        let practice = try Practice()
        let parts = rawScore("k1", closing: true).split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        let connection = try practice.open()
        try TCPSocket.sendAll(Array("\(parts[0])\r\nExpect: 100-continue\r\n\r\n".utf8), on: connection)
        #expect(try connection.read(limitBytes: 4096) == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        try TCPSocket.sendAll(Array(parts[1].utf8), on: connection)
        let answer = try SmallFile.read(from: connection, path: "answer", limitBytes: 65_536)
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }

    @Test func headGetsNoBody() throws {
        let practice = try Practice()
        let answer = try practice.client.send("HEAD", "/boards")
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(answer.header("content-length") != "0")
    }

    @Test func anOldClientIsAnsweredAndClosed() throws {
        let practice = try Practice()
        #expect(try practice.exchange("GET /healthz HTTP/1.0\r\n\r\n").hasSuffix("{\"status\":\"ok\"}"))
    }

    @Test func aClientThatStopsSendingStillGetsItsAnswer() throws {
        let practice = try Practice(faults: #"{"latencyMilliseconds": 20}"#)
        let connection = try practice.open()
        try TCPSocket.sendAll(Array(rawScore("k1").utf8), on: connection)
        try TCPSocket.endSending(on: connection)
        let answer = try SmallFile.read(from: connection, path: "answer", limitBytes: 65_536)
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: x\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\u{0}\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ("POST /v1/scores HTTP/1.1\r\nHost: x\r\n\r\n", 411),
        ("POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 1 2\r\n\r\n", 400),
        ("POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
        ("POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
        ("POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 262145\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: miracles\r\n\r\n", 417),
        ("GET /\(String(repeating: "x", count: 9_000)) HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "x", count: 17_000))\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "X: y\r\n", count: 101))\r\n", 431),
    ])
    func aBrokenRequestGetsItsStatusAndTheEnd(request: String, status: Int) throws {
        let practice = try Practice()
        let text = try practice.exchange(request)
        #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(40))")
        #expect(text.contains("\r\nConnection: close\r\n"))
        #expect(try practice.client.get("/healthz").status == 200)
    }

    @Test func halfARequestAndAClosedConnectionHurtNobody() throws {
        let practice = try Practice()
        for _ in 0..<20 { try TCPSocket.sendAll(Array(rawScore("k1").utf8.dropLast(5)), on: practice.open()) }
        #expect(try practice.submit(score: "k2").status == 200)
        #expect(practice.server.keyCount == 1)
    }

    @Test func manyIdleConnectionsDisturbNobody() throws {
        let practice = try Practice()
        let idle = try (0..<400).map { _ in try practice.open() }
        #expect(try practice.submit(score: "k1").status == 200)
        #expect(idle.count == 400)
    }

    @Test func aClientThatNeverReadsDisturbsNobody() throws {
        let practice = try Practice()
        let connection = try practice.open()
        try connection.setNonBlocking()
        let requests = Array(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 2_000).utf8)
        // The socket takes what it takes; the server stops reading at some point, which is what is tested.
        _ = try? TCPSocket.sendAll(requests, on: connection)
        #expect(try practice.submit(score: "k1").status == 200)
    }

    @Test func stoppingEndsConnectionsAndFreesThePort() throws {
        let practice = try Practice()
        let connection = try practice.open()
        try TCPSocket.sendAll(Array(rawScore("k1").utf8), on: connection)
        #expect(practice.server.waitForKeys(count: 1))
        practice.server.stop()
        practice.server.stop()
        #expect(throws: PracticeClient.Failure.self) { try practice.client.get("/healthz") }
        let next = try Practice { $0.address = practice.server.address }
        #expect(try next.client.get("/healthz").status == 200)
    }
}
