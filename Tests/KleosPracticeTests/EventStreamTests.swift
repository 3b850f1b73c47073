import Glibc
import KleosJSON
import KleosPractice
import KleosSupport
import Testing

@Suite struct EventStreamTests {
    /// A stream of `/events`, read until its connection ends.
    private final class Stream {
        private let connection: FileDescriptor
        private var text = ""

        init(_ practice: Practice) throws {
            connection = try practice.open()
            try TCPSocket.sendAll(Array("GET /events HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: connection)
        }

        /// The text up to the next empty line; nil at the end.
        func next() throws -> String? {
            while true {
                if let range = text.firstRange(of: "\r\n\r\n") ?? text.firstRange(of: "\n\n") {
                    let part = String(text[..<range.lowerBound])
                    text = String(text[range.upperBound...])
                    return part
                }
                let bytes = try connection.read(limitBytes: 65_536)
                if bytes.isEmpty { return nil }
                text += String(decoding: bytes, as: UTF8.self)
            }
        }

        func state() throws -> JSONValue {
            let event = try #require(try next())
            try #require(event.hasPrefix("data: "))
            return try json(String(event.dropFirst(6)))
        }
    }

    @Test func sendsTheStateAtOnceAndAfterEachChange() throws {
        let practice = try Practice()
        let stream = try Stream(practice)
        let head = try #require(try stream.next())
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
        #expect(!head.contains("Content-Length"))
        #expect(try stream.state()["counts"]?["requests"] == 0)
        _ = try practice.submit(score: "k1", player: "mira")
        let state = try stream.state()
        #expect(state["counts"]?["requests"] == 1)
        #expect(state["boards"]?.arrayValue?.first?["entries"]?.arrayValue?.first?["player"] == "mira")
        practice.server.setFaults(.down(.refuse))
        #expect(try stream.state()["faults"]?["down"] == "refuse")
        _ = try practice.client.send("DELETE", "/faults")
        #expect(try stream.state()["faults"] == [:])
        practice.server.stop()
        #expect(try stream.next() == nil)
    }

    /// However many changes there are, the last one is sent.
    @Test func sendsTheLatestOfManyChanges() throws {
        let practice = try Practice()
        let stream = try Stream(practice)
        _ = try stream.next()
        for number in 1...300 { _ = try practice.submit(score: "k\(number)") }
        var events = 0
        while try stream.state()["counts"]?["requests"] != 300 { events += 1 }
        #expect(events < 300)
    }

    @Test func turnsAwayTooManyPagesAndForgetsThoseThatEnded() throws {
        let practice = try Practice()
        var streams = try (0..<64).map { _ in try Stream(practice) }
        for stream in streams { #expect(try stream.next()?.hasPrefix("HTTP/1.1 200") == true) }
        #expect(try Stream(practice).next()?.hasPrefix("HTTP/1.1 503") == true)
        streams = []
        // The server sees the ends before a request that comes after them.
        var answer: String?
        repeat { answer = try Stream(practice).next() } while answer?.hasPrefix("HTTP/1.1 503") == true
        #expect(answer?.hasPrefix("HTTP/1.1 200") == true)
    }

    @Test func answersHEADWithoutAStream() throws {
        let practice = try Practice()
        #expect(try practice.client.send("HEAD", "/events").status == 404)
    }
}
