import Glibc

/// An incremental reader of HTTP/1.x requests (RFC 9112): bytes go in as they come, complete requests come out.
package struct HTTPRequestParser: Sendable {
    /// What is accepted at the most.
    package struct Limits: Sendable {
        /// The request line, in bytes.
        package var requestLineBytes = 8_192
        /// Request line and header fields together, in bytes; also a chunked body's trailer.
        package var headBytes = 16_384
        /// Header fields of one request.
        package var headerCount = 100
        /// A body, in bytes.
        package var bodyBytes = 262_144

        /// Makes the usual limits.
        package init() {}
    }

    /// A request that cannot be read; nothing after it on the connection can be trusted.
    package struct Failure: Error, Sendable, Equatable {
        package let status: Int
        package let message: String
    }

    private enum Stage {
        case requestLine
        case headers
        case fixedBody(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailer
    }

    private let limits: Limits
    private var buffer: [UInt8] = []
    private var position = 0
    private var stage = Stage.requestLine
    private var headBytes = 0
    private var request = HTTPRequest(method: "", target: "")
    private var expectsContinue = false

    /// Makes a reader.
    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Bytes that came and were not yet read.
    package var bufferedBytes: Int { buffer.count - position }

    /// Whether a request has begun and is not complete.
    package var isInsideRequest: Bool {
        if case .requestLine = stage { return bufferedBytes > 0 }
        return true
    }

    /// Adds bytes that came.
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            position = 0
        } else if position > 65_536 {
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Whether the sender waits for `100 Continue` before it sends the body; true once for each such request.
    package mutating func takeExpectation() -> Bool {
        defer { expectsContinue = false }
        return expectsContinue && bufferedBytes == 0
    }

    /// Reads on; nil where more bytes are needed. Throws `Failure`.
    package mutating func next() throws(Failure) -> HTTPRequest? {
        while true {
            switch stage {
            case .requestLine:
                guard let line = try line(limit: limits.requestLineBytes, status: 414) else { return nil }
                // RFC 9112, 2.2: an empty line before the request line is to be ignored.
                if line.isEmpty { continue }
                headBytes = line.count
                try readRequestLine(line)
                stage = .headers
            case .headers:
                guard let line = try line(limit: limits.headBytes - headBytes, status: 431) else { return nil }
                headBytes += line.count + 2
                if line.isEmpty { try endHead() } else { try readHeader(line) }
                if case .fixedBody(remaining: 0) = stage { return finish() }
            case .fixedBody(let remaining):
                guard bufferedBytes >= remaining else { return nil }
                take(remaining)
                return finish()
            case .chunkSize:
                guard let line = try line(limit: 256, status: 400) else { return nil }
                try readChunkSize(line)
            case .chunk(let remaining):
                let count = min(remaining, bufferedBytes)
                take(count)
                stage = count == remaining ? .chunkEnd : .chunk(remaining: remaining - count)
                if count < remaining { return nil }
            case .chunkEnd:
                guard let line = try line(limit: 2, status: 400) else { return nil }
                guard line.isEmpty else { throw Failure(status: 400, message: "a chunk is longer than its size says") }
                stage = .chunkSize
            case .trailer:
                guard let line = try line(limit: limits.headBytes - headBytes, status: 431) else { return nil }
                headBytes += line.count + 2
                if line.isEmpty { return finish() }
            }
        }
    }

    private mutating func take(_ count: Int) {
        request.body.append(contentsOf: buffer[position..<(position + count)])
        position += count
    }

    private mutating func finish() -> HTTPRequest {
        defer {
            request = HTTPRequest(method: "", target: "")
            stage = .requestLine
            headBytes = 0
            expectsContinue = false
        }
        return request
    }

    /// The next line without its end; nil where it is not complete.
    private mutating func line(limit: Int, status: Int) throws(Failure) -> ArraySlice<UInt8>? {
        // Sound: memchr looks at the bytes from position to the end only, and a difference of pointers leaves the
        // closure.
        let end = buffer.withUnsafeBytes { bytes -> Int? in
            guard position < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + position, 0x0A, bytes.count - position).map { UnsafeRawPointer($0) - base }
        }
        guard let end else {
            guard bufferedBytes <= limit + 1 else { throw Failure(status: status, message: "a line is too long") }
            return nil
        }
        guard end - position <= limit + 1 else { throw Failure(status: status, message: "a line is too long") }
        guard end > position, buffer[end - 1] == 0x0D else {
            throw Failure(status: 400, message: "a line must end with CR LF")
        }
        defer { position = end + 1 }
        return buffer[position..<(end - 1)]
    }
}

// MARK: - The parts of a request

extension HTTPRequestParser {
    private mutating func readRequestLine(_ line: ArraySlice<UInt8>) throws(Failure) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(Self.isToken), !parts[1].isEmpty,
            parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Failure(status: 400, message: "the request line is broken") }
        guard parts[2].starts(with: "HTTP/".utf8) else {
            throw Failure(status: 400, message: "the request line is broken")
        }
        let version = String(decoding: parts[2].dropFirst(5), as: UTF8.self)
        guard version == "1.1" || version == "1.0" else {
            throw Failure(status: 505, message: "only HTTP/1.1 and HTTP/1.0 are spoken here")
        }
        request.method = String(decoding: parts[0], as: UTF8.self)
        request.target = String(decoding: parts[1], as: UTF8.self)
        request.keepsAlive = version == "1.1"
    }

    private mutating func readHeader(_ line: ArraySlice<UInt8>) throws(Failure) {
        guard request.headers.count < limits.headerCount else {
            throw Failure(status: 431, message: "more than \(limits.headerCount) header fields")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isToken)
        else { throw Failure(status: 400, message: "a header field is broken") }
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw Failure(status: 400, message: "a header field has a control character")
        }
        let name = line[..<colon].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        request.headers.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }

    private mutating func endHead() throws(Failure) {
        let isModern = request.keepsAlive
        let hosts = request.headers.count { $0.name == "host" }
        guard hosts == 1 || hosts == 0 && !isModern else {
            throw Failure(status: 400, message: "exactly one Host header field is required")
        }
        for option in tokens("connection") {
            if option == "close" { request.keepsAlive = false }
            if option == "keep-alive", !isModern { request.keepsAlive = true }
        }
        stage = try bodyStage()
        if let expectation = request.header("expect") {
            guard expectation.lowercased() == "100-continue" else {
                throw Failure(status: 417, message: "only 100-continue can be expected")
            }
            if case .fixedBody(remaining: 0) = stage { return }
            expectsContinue = isModern
        }
    }

    private func bodyStage() throws(Failure) -> Stage {
        let lengths = Set(tokens("content-length"))
        let codings = tokens("transfer-encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty else {
                throw Failure(status: 400, message: "Content-Length and Transfer-Encoding exclude each other")
            }
            guard codings == ["chunked"] else {
                throw Failure(status: 501, message: "only the transfer coding chunked is understood")
            }
            return .chunkSize
        }
        if lengths.isEmpty {
            guard !["POST", "PUT", "PATCH"].contains(request.method) else {
                throw Failure(status: 411, message: "\(request.method) needs Content-Length or a chunked body")
            }
            return .fixedBody(remaining: 0)
        }
        guard lengths.count == 1, let text = lengths.first, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            !text.isEmpty
        else { throw Failure(status: 400, message: "Content-Length is no number") }
        guard let length = Int(text), length <= limits.bodyBytes else { throw tooLarge }
        return .fixedBody(remaining: length)
    }

    private var tooLarge: Failure {
        Failure(status: 413, message: "a body may have \(limits.bodyBytes) bytes at most")
    }

    private mutating func readChunkSize(_ line: ArraySlice<UInt8>) throws(Failure) {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        guard !digits.isEmpty, digits.count <= 16, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Failure(status: 400, message: "a chunk's size is no hexadecimal number") }
        guard size <= limits.bodyBytes - request.body.count else { throw tooLarge }
        stage = size == 0 ? .trailer : .chunk(remaining: size)
    }

    /// The comma-separated elements of all header fields `name`, in lower case.
    private func tokens(_ name: String) -> [String] {
        var tokens: [String] = []
        for header in request.headers where header.name == name {
            for part in header.value.split(separator: ",", omittingEmptySubsequences: false) {
                let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
                let rest = part.drop(while: isSpace)
                tokens.append(rest.dropLast(rest.reversed().prefix(while: isSpace).count).lowercased())
            }
        }
        return tokens
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
