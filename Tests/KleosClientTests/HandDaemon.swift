import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire

/// A daemon that a test plays by hand: it accepts when the test says so, and answers what and when the test says.
final class HandDaemon {
    private let folder: TemporaryFolder
    private let listener: FileDescriptor

    /// Where clients connect.
    var path: String { folder.path("kleos.sock") }

    init() throws {
        folder = try TemporaryFolder(prefix: "client")
        listener = try UnixSocket.listen(at: folder.path("kleos.sock"), mode: 0o600)
    }

    /// Whether nobody has connected that was not accepted.
    var isAlone: Bool {
        var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, 0) } == 0
    }

    /// Waits for a client to connect; ETIMEDOUT after ten minutes.
    func accept() throws -> Talk {
        try Talk.waitForInput(on: listener)
        let number = Retry.onInterrupt { Glibc.accept(listener.number, nil, nil) }
        guard number >= 0 else { throw SystemError("accept a client") }
        return Talk(FileDescriptor(owning: number))
    }
}

/// The daemon's end of one connection.
final class Talk {
    private let descriptor: FileDescriptor
    private var framer = LineFramer(maximumBytes: Limits.requestBytes)

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        hangUp()
    }

    static func waitForInput(on descriptor: FileDescriptor) throws {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        let count = Retry.onInterrupt { poll(&entry, 1, Patience.limitMilliseconds) }
        guard count > 0 else { throw SystemError("wait for a client", code: ETIMEDOUT) }
    }

    /// Waits for the next request; ECONNRESET where the client hung up.
    func next() throws -> RPCRequest {
        while true {
            if let frame = framer.next() {
                guard case .line(let line) = frame, case .single(let parsed) = try RPCRequest.parse(line) else {
                    throw SystemError("read a single request", code: EPROTO)
                }
                return try parsed.request.get()
            }
            try Self.waitForInput(on: descriptor)
            let bytes = try descriptor.read(limitBytes: 65_536)
            guard !bytes.isEmpty else { throw SystemError("read a request", code: ECONNRESET) }
            framer.append(bytes)
        }
    }

    /// Waits for `count` requests.
    func next(_ count: Int) throws -> [RPCRequest] {
        try (0..<count).map { _ in try next() }
    }

    /// Waits until the client hangs up; requests that come before that are dropped.
    func waitForEnd() throws {
        do {
            repeat { try Self.waitForInput(on: descriptor) } while try !descriptor.read(limitBytes: 65_536).isEmpty
        } catch let error as SystemError where error.code == ECONNRESET {
            // It hung up before it had read the last answer.
        }
    }

    func answer(_ request: RPCRequest, _ result: JSONValue) throws {
        try write(RPCAnswer.result(result, id: request.id ?? []))
    }

    func refuse(_ request: RPCRequest, _ error: RPCError) throws {
        try write(RPCAnswer.error(error, id: request.id ?? []))
    }

    /// Accepts a submission under the key whose last digits are `number`.
    func receipt(_ request: RPCRequest, number: UInt64) throws {
        try answer(request, SubmitAnswer(key: .numbered(number), isSuperseded: false, isDuplicate: false).json)
    }

    func write(_ line: [UInt8]) throws {
        try descriptor.writeAll(line + [UInt8(ascii: "\n")])
    }

    func hangUp() {
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }
}

extension EventKey {
    /// A key that ends in `number`.
    static func numbered(_ number: UInt64) -> EventKey {
        EventKey(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0000 | number)
    }
}
