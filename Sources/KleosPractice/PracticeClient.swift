import Glibc
package import KleosJSON
package import KleosSupport

/// A small HTTP client for one practice endpoint: one request a connection, numeric addresses, no redirects.
package struct PracticeClient: Sendable {
    /// Why there is no answer.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case badURL(String)
        case system(SystemError)
        /// The connection ended before the answer was complete.
        case incompleteAnswer(bytes: Int)

        package var description: String {
            switch self {
            case .badURL(let url): "\(url) is no URL like http://127.0.0.1:8484"
            case .system(let error): "\(error)"
            case .incompleteAnswer(let bytes): "the endpoint closed the connection after \(bytes) bytes of an answer"
            }
        }
    }

    /// An answer.
    package struct Answer: Sendable {
        package var status: Int
        /// Header fields, names in lower case.
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        /// The first header field `name`, which must be in lower case.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

        /// The body as JSON; nil where it is none.
        package var json: JSONValue? {
            try? JSONParser.parse(body, limits: JSONLimits(maximumBytes: 1 << 28))
        }
    }

    private let address: TCPAddress
    private let basePath: String
    private let timeoutMilliseconds: Int

    /// Makes a client for the endpoint at `url`. Throws `Failure.badURL`.
    package init(url: String, timeoutMilliseconds: Int = 30_000) throws(Failure) {
        guard url.hasPrefix("http://") else { throw .badURL(url) }
        let rest = url.dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        guard let address = TCPAddress(String(authority)) ?? TCPAddress("\(authority):80") else { throw .badURL(url) }
        self.address = address
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path.removeLast() }
        basePath = String(path)
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// Sends a request and waits for the whole answer. Throws `Failure`.
    package func send(
        _ method: String, _ path: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) throws(Failure) -> Answer {
        var request = "\(method) \(basePath)\(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n"
        for (name, value) in headers { request += "\(name): \(value)\r\n" }
        if let body { request += "Content-Length: \(body.count)\r\n" }
        let answer: [UInt8]
        do throws(SystemError) {
            let connection = try TCPSocket.connect(to: address, timeoutMilliseconds: timeoutMilliseconds)
            try TCPSocket.sendAll(Array("\(request)\r\n".utf8) + (body ?? []), on: connection)
            answer = try SmallFile.read(from: connection, path: "the answer of \(address)", limitBytes: 1 << 28)
        } catch {
            throw .system(error)
        }
        return try Self.parse(answer, isHead: method == "HEAD")
    }

    /// Gets a JSON page. Throws `Failure`.
    package func get(_ path: String) throws(Failure) -> Answer {
        try send("GET", path)
    }

    /// Sends JSON. Throws `Failure`.
    package func post(
        _ path: String, _ body: JSONValue, headers: [(name: String, value: String)] = []
    ) throws(Failure) -> Answer {
        try send("POST", path, headers: [("Content-Type", "application/json")] + headers, body: body.serializedBytes)
    }

    /// Submits `body` as the contract says, with its `key` as Idempotency-Key. Throws `Failure`.
    package func submit(_ path: String, _ body: JSONValue, token: String? = nil) throws(Failure) -> Answer {
        var headers = [(name: "Idempotency-Key", value: "\"\(body["key"]?.stringValue ?? "")\"")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        return try post(path, body, headers: headers)
    }

    private static func parse(_ bytes: [UInt8], isHead: Bool) throws(Failure) -> Answer {
        var lines: [String] = []
        var position = 0
        while let end = bytes[position...].firstIndex(of: 0x0A) {
            let line = String(decoding: bytes[position..<end], as: UTF8.self).filter { $0 != "\r" && $0 != "\r\n" }
            position = end + 1
            if line.isEmpty {
                // An interim answer precedes the real one.
                guard lines.first?.contains(" 100 ") == true else { break }
                lines = []
            } else {
                lines.append(line)
            }
        }
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else { throw .incompleteAnswer(bytes: bytes.count) }
        var answer = Answer(status: status, headers: [], body: Array(bytes[position...]))
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            answer.headers.append((line[..<colon].lowercased(), String(value)))
        }
        let length = answer.header("content-length").flatMap { Int($0) } ?? 0
        guard isHead || answer.body.count == length else { throw .incompleteAnswer(bytes: bytes.count) }
        return answer
    }
}
