package import KleosJSON

/// One HTTP answer.
package struct HTTPAnswer: Sendable {
    /// The status code.
    package var status: Int
    /// Header fields besides Content-Length and Connection.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// Whether the connection ends after this answer.
    package var closes = false

    /// Makes an answer from its parts.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes an answer with a JSON body.
    package static func json(_ value: JSONValue, status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: [("Content-Type", "application/json")], body: value.serializedBytes)
    }

    /// Makes an error in the contract's own form.
    package static func error(
        _ status: Int, _ code: String, _ message: String, headers: [(name: String, value: String)] = []
    ) -> HTTPAnswer {
        var answer = json(["error": ["code": .string(code), "message": .string(message)]], status: status)
        answer.headers += headers
        return answer
    }

    /// Appends the answer in wire form; `withoutBody` leaves the body out, as HEAD demands.
    package func write(to output: inout [UInt8], closing: Bool, withoutBody: Bool = false) {
        output += "HTTP/1.1 ".utf8
        output += String(status).utf8
        output.append(UInt8(ascii: " "))
        output += Self.reason(status).utf8
        output += "\r\n".utf8
        for (name, value) in headers {
            output += name.utf8
            output += ": ".utf8
            output += value.utf8
            output += "\r\n".utf8
        }
        output += "Content-Length: ".utf8
        output += String(body.count).utf8
        output += closing ? "\r\nConnection: close\r\n\r\n".utf8 : "\r\n\r\n".utf8
        if !withoutBody { output += body }
    }

    /// Appends the head of an answer whose body goes on until the connection ends.
    func writeHeadOfStream(to output: inout [UInt8]) {
        output += "HTTP/1.1 \(status) \(Self.reason(status))\r\n".utf8
        for (name, value) in headers { output += "\(name): \(value)\r\n".utf8 }
        output += "Connection: close\r\n\r\n".utf8
    }

    /// The usual words for a status code.
    package static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 302: "Found"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: status < 400 ? "OK" : "Error"
        }
    }
}
