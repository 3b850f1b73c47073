import Dispatch
import KleosSupport
import Synchronization

/// A server that speaks HTTP/2 over TLS, in frames that a test dictates, one reply a request.
final class HTTP2Server: Sendable {
    /// What follows a request, in this order.
    enum Step: Sendable {
        /// Header fields; `ends` says that no body follows.
        case headers(status: Int, fields: [(String, String)] = [], ends: Bool = false)
        /// A piece of the body.
        case data(String, ends: Bool = false)
        /// RST_STREAM.
        case reset(code: UInt8)
        /// GOAWAY; `processed` says whether this request still counts as processed.
        case goAway(processed: Bool, code: UInt8 = 0)
        /// A frame as it is.
        case raw([UInt8])
        /// An orderly end of the connection.
        case close
        /// An end of the connection without a word of TLS.
        case hangUp
    }

    /// A whole confirmation.
    static let whole: [Step] = [.headers(status: 200), .data(accepted, ends: true)]

    private struct State {
        var replies: [[Step]]
        var bodies: [String] = []
    }

    private final class Shared: Sendable {
        let state: Mutex<State>
        init(_ replies: [[Step]]) { state = Mutex(State(replies: replies)) }

        func take(_ body: [UInt8]) -> [Step] {
            state.withLock { state in
                state.bodies.append(String(decoding: body, as: UTF8.self))
                return state.replies.count > 1 ? state.replies.removeFirst() : state.replies.first ?? []
            }
        }
    }

    private let listener: RawListener
    private let shared: Shared

    var url: String { "https://\(listener.address)" }
    var connectionCount: Int { listener.connectionCount }
    /// The bodies of the requests so far.
    var bodies: [String] { shared.state.withLock { $0.bodies } }

    /// The last reply is given to every request after it too.
    init(_ replies: [[Step]], tls: TLSContext) throws {
        let shared = Shared(replies)
        self.shared = shared
        listener = try RawListener { descriptor in
            if let stream = tls.accept(descriptor) { Self.serve(stream, shared) }
        }
    }

    private static func serve(_ stream: TLSStream, _ shared: Shared) {
        var reader = FrameReader(stream)
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        guard reader.take(preface.count) == preface, stream.write(Frame(.settings, 0).bytes) else { return }
        var bodies: [UInt32: [UInt8]] = [:]
        while let frame = reader.next() {
            switch frame.kind {
            case .settings where frame.flags & 1 == 0:
                guard stream.write(Frame(.settings, 0, flags: 1).bytes) else { return }
            case .ping where frame.flags & 1 == 0:
                guard stream.write(Frame(.ping, 0, flags: 1, frame.payload).bytes) else { return }
            case .data: bodies[frame.stream, default: []] += frame.payload
            default: break
            }
            guard frame.kind == .data || frame.kind == .headers, frame.flags & 1 == 1 else { continue }
            let steps = shared.take(bodies.removeValue(forKey: frame.stream) ?? [])
            guard perform(steps, for: frame.stream, on: stream) else { return }
        }
    }

    /// Performs the steps; returns whether the connection goes on.
    private static func perform(_ steps: [Step], for number: UInt32, on stream: TLSStream) -> Bool {
        // What belongs together goes out together, so that the client meets it in one piece.
        var bytes: [UInt8] = []
        for step in steps {
            switch step {
            case .headers(let status, let fields, let ends):
                bytes += Frame(.headers, number, flags: ends ? 5 : 4, Frame.fields(status, fields)).bytes
            case .data(let text, let ends):
                bytes += Frame(.data, number, flags: ends ? 1 : 0, Array(text.utf8)).bytes
            case .reset(let code): bytes += Frame(.reset, number, [0, 0, 0, code]).bytes
            case .goAway(let processed, let code):
                bytes += Frame(.goAway, 0, Frame.word(processed ? number : number - 1) + [0, 0, 0, code]).bytes
            case .raw(let raw): bytes += raw
            case .close, .hangUp:
                _ = stream.write(bytes)
                if case .close = step { stream.close() } else { stream.hangUp() }
                return false
            }
        }
        return stream.write(bytes)
    }
}

/// A frame of HTTP/2 (RFC 9113, section 4).
struct Frame {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case reset = 3
        case settings = 4
        case ping = 6
        case goAway = 7
        case other = 255
    }

    var kind: Kind
    var stream: UInt32
    var flags: UInt8
    var payload: [UInt8]

    init(_ kind: Kind, _ stream: UInt32, flags: UInt8 = 0, _ payload: [UInt8] = []) {
        self.kind = kind
        self.stream = stream
        self.flags = flags
        self.payload = payload
    }

    var bytes: [UInt8] {
        Array(Self.word(UInt32(payload.count)).dropFirst()) + [kind.rawValue, flags] + Self.word(stream) + payload
    }

    static func word(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }

    /// Header fields as literals that touch no table (RFC 7541, section 6.2.2); index 8 is the name `:status`.
    static func fields(_ status: Int, _ fields: [(String, String)]) -> [UInt8] {
        fields.reduce([0x08] + text("\(status)")) { $0 + [0x00] + text($1.0) + text($1.1) }
    }

    /// Shorter than 127 bytes.
    private static func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
}

/// Cuts what comes over a connection into frames.
private struct FrameReader {
    private let stream: TLSStream
    private var received: [UInt8] = []

    init(_ stream: TLSStream) { self.stream = stream }

    mutating func take(_ count: Int) -> [UInt8]? {
        while received.count < count {
            guard let bytes = stream.read() else { return nil }
            received += bytes
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// The next frame; nil where the client went.
    mutating func next() -> Frame? {
        guard let head = take(9) else { return nil }
        let length = head[0..<3].reduce(0) { $0 << 8 | Int($1) }
        let number = head[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        guard let payload = take(length) else { return nil }
        return Frame(Frame.Kind(rawValue: head[3]) ?? .other, number, flags: head[4], payload)
    }
}
