import Glibc
package import KleosJSON
package import KleosSupport
import KleosWire

/// A client that sends bytes and reads lines; every wait ends after a generous time.
package final class TestClient {
    package let descriptor: FileDescriptor
    private var framer = LineFramer(maximumBytes: 2 << 20)
    private var nextID = 1

    /// Connects to the socket at `path`. Throws `SystemError`.
    package init(path: String) throws(SystemError) {
        descriptor = try UnixSocket.connect(to: path)
        var limit = timeval(tv_sec: Int(Patience.limitMilliseconds) / 1_000, tv_usec: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor.number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends all of `bytes`; false where the server has closed.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor.number, $0.baseAddress.map { $0 + offset }, bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Sends `text` and a line feed.
    package func sendLine(_ text: String) { send(Array((text + "\n").utf8)) }

    /// The next line; nil at the end of the connection or when nothing comes.
    package func line() -> String? {
        while true {
            if case .line(let bytes)? = framer.next() { return String(decoding: bytes, as: UTF8.self) }
            guard let bytes = try? descriptor.read(limitBytes: 65_536), !bytes.isEmpty else { return nil }
            framer.append(bytes)
        }
    }

    /// The next line as JSON.
    package func answer() throws -> JSONValue {
        guard let line = line() else { throw Ended() }
        return try JSONParser.parse(Array(line.utf8))
    }

    /// Sends one line and reads one.
    package func exchange(_ text: String) throws -> JSONValue {
        sendLine(text)
        return try answer()
    }

    /// Asks and returns the whole answer, notifications that come before it left out.
    package func ask(_ method: String, _ parameters: String = "{}") throws -> JSONValue {
        nextID += 1
        sendLine(#"{"jsonrpc":"2.0","id":\#(nextID),"method":"\#(method)","params":\#(parameters)}"#)
        while true {
            let answer = try answer()
            if answer["method"] == nil { return answer }
        }
    }

    /// Submits an event.
    package func submit(_ parameters: String) throws -> JSONValue { try ask("submit", parameters) }

    /// The connection ended, or nothing came.
    package struct Ended: Error {
        /// Makes one.
        package init() {}
    }
}

extension JSONValue {
    /// The stable word of an error answer.
    package var reason: String? { self["error"]?["data"]?["reason"]?.stringValue }
    /// The parameter at fault of an error answer.
    package var field: String? { self["error"]?["data"]?["field"]?.stringValue }
    /// The result of an answer.
    package var result: JSONValue? { self["result"] }
}
