import Glibc
import KleosDelivery
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

/// Endpoints that stop in the middle, or never come to an end.
@Suite(.timeLimit(.minutes(30))) struct StallFaultTests {
    /// Far longer than a connection, its handshake and the request take on a slow machine, since all these have to come
    /// first.
    private static let timeoutMilliseconds: Int64 = 3_000

    private static func stall(_ name: String, _ reply: RawServer.Reply) -> EndpointFault {
        var fault = EndpointFault.unclear(name, reply, "no answer in time")
        fault.timeoutMilliseconds = timeoutMilliseconds
        return fault
    }

    static let stalls = [
        stall("after the request", .silence),
        stall("in the status line", .answer("HTTP/1.1 20")),
        stall("after the status line", .answer("HTTP/1.1 200 OK\r\n")),
        stall("in a field", .answer("HTTP/1.1 200 OK\r\nContent-Le")),
        stall("before the end of the fields", .answer("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n")),
        stall("after the fields", .answer("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n")),
        stall("in the body", .answer("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"acc")),
        stall("one byte before the end", .answer("HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n\(accepted)")),
        stall("at the end of a body without length", .answer("HTTP/1.1 200 OK\r\n\r\n\(accepted)")),
        stall(
            "before the last piece",
            .answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n\(accepted)\r\n")),
        stall("after an interim answer", .answer("HTTP/1.1 100 Continue\r\n\r\n")),
        stall(
            "dripping the status line",
            .drip(head: "", block: "HTTP/1.1 200 OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO")),
        stall("dripping interim answers", .drip(head: "", block: "HTTP/1.1 103 Early\r\n\r\n")),
        stall("dripping fields", .drip(head: "HTTP/1.1 200 OK\r\n", block: "X: y\r\n")),
        stall("dripping the body", .drip(head: "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n", block: " ")),
        stall(
            "dripping pieces", .drip(head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", block: "1\r\n \r\n")
        ),
    ]

    @Test func everyStallEndsByTheTimeOut() throws { try FaultBench.play("stalls and drips", Self.stalls) }

    @Test(.enabled(if: TestCertificate.isAvailable, TestCertificate.need))
    func everyStallEndsByTheTimeOutOverTLSToo() throws {
        let certificate = try TestCertificate()
        try FaultBench.play("stalls and drips over TLS", Self.stalls, certificate: certificate)
    }

    /// What takes connections in and never reads: the system completes them.
    private final class DeafServer {
        let listener: FileDescriptor
        let address: TCPAddress
        init() throws { (listener, address) = try TCPSocket.listen(at: TCPAddress(host: "127.0.0.1", port: 0)) }
    }

    @Test func aServerThatNeverReadsMayHaveTakenTheRequestIn() throws {
        let deaf = try DeafServer()
        let request = post("http://\(deaf.address)", timeoutMilliseconds: Self.timeoutMilliseconds)
        let exchange = sharedLine.begin(request)
        #expect(try exchange.failure().kind == .timeout)
        #expect(try exchange.result().didSendRequest)
    }

    @Test func aHandshakeThatNeverEndsSentNothing() throws {
        let deaf = try DeafServer()
        let request = post("https://\(deaf.address)", timeoutMilliseconds: Self.timeoutMilliseconds)
        let exchange = sharedLine.begin(request)
        #expect(try exchange.failure().kind == .timeout)
        #expect(try !exchange.result().didSendRequest, "so that it is repeated even where it would count twice")
    }

    @Test func aConnectionThatIsNeverTakenInSentNothing() throws {
        let (listener, address) = try TCPSocket.listen(at: TCPAddress(host: "127.0.0.1", port: 0))
        // One waits in the queue; from then on the system does not answer.
        try #require(listen(listener.number, 0) == 0)
        let waiting = try TCPSocket.connect(to: address)
        let request = post("http://\(address)", connectTimeoutMilliseconds: 300)
        let exchange = sharedLine.begin(request)
        #expect(try exchange.failure().kind == .timeout)
        #expect(try !exchange.result().didSendRequest)
        withExtendedLifetime((listener, waiting)) {}
    }
}
