import KleosConfig

/// What all requests to one URL of an endpoint have in common; made once for each configuration.
package final class TransportRoute: Sendable {
    package let url: String
    /// Names and values; a value may be secret.
    package let headers: [(name: String, value: String)]
    package let connectTimeoutMilliseconds: Int64
    /// For the whole exchange.
    package let timeoutMilliseconds: Int64
    /// A larger answer is a failure.
    package let maximumAnswerBytes: Int
    /// Whether a second copy would count twice, so that nobody may repeat a request that has begun to go out.
    package let mustGoOutOnce: Bool
    /// A file with certificate authorities in PEM form, trusted in place of the system's.
    package let certificateAuthorityFile: String?
    /// Scheme, host and port.
    let origin: String
    let isLoopback: Bool
    /// Why nothing may be sent there; nil where it may.
    let problem: String?

    /// Makes a route from its parts. `allowsInsecure` says whether plain http may leave the machine.
    package init(
        url: String, headers: [(name: String, value: String)], connectTimeoutMilliseconds: Int64,
        timeoutMilliseconds: Int64, maximumAnswerBytes: Int, allowsInsecure: Bool, mustGoOutOnce: Bool = false,
        certificateAuthorityFile: String?
    ) {
        self.url = url
        self.headers = headers
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumAnswerBytes = maximumAnswerBytes
        self.mustGoOutOnce = mustGoOutOnce
        self.certificateAuthorityFile = certificateAuthorityFile
        origin = SecureAddress.origin(of: url)
        isLoopback = ServiceAddress.isLoopback(url)
        problem = SecureAddress.problem(with: url, allowsInsecure: allowsInsecure)
    }
}

/// One HTTP request, complete.
package struct TransportRequest: Sendable {
    /// Names it where its end is told; whoever sends it chooses, each number once.
    package var number: Int
    package var route: TransportRoute
    /// Names and values besides those of the route.
    package var headers: [(name: String, value: String)]
    /// Sent by POST.
    package var body: [UInt8]

    /// Makes a request from its parts.
    package init(number: Int = 0, route: TransportRoute, headers: [(name: String, value: String)], body: [UInt8]) {
        self.number = number
        self.route = route
        self.headers = headers
        self.body = body
    }
}

/// A complete HTTP answer.
package struct TransportAnswer: Sendable, Equatable {
    package var status: Int
    package var body: [UInt8]
    /// The header `Content-Type`.
    package var contentType: String?
    /// The header `Retry-After`, verbatim; several are apart by line breaks.
    package var retryAfter: String?
    /// The header `Location`.
    package var location: String?

    /// Makes an answer from its parts.
    package init(
        status: Int, body: [UInt8], contentType: String? = nil, retryAfter: String? = nil, location: String? = nil
    ) {
        self.status = status
        self.body = body
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.location = location
    }
}

/// Why no complete answer came.
package struct TransportFailure: Error, Sendable, Equatable {
    /// What kind of trouble it was.
    package enum Kind: String, Sendable, CaseIterable {
        case dns
        case refused
        case unreachable
        case timeout
        case certificateExpired = "certificate-expired"
        case certificateNotYetValid = "certificate-not-yet-valid"
        /// No secure connection for another reason.
        case tls
        /// The connection broke, or the answer was no HTTP.
        case broken
        /// The answer was larger than allowed.
        case tooLarge = "too-large"
        /// The request cannot be made: a URL that is none, or plain http to another machine.
        case unusable
        /// The transport was told to stop.
        case cancelled
    }

    package var kind: Kind
    /// A sentence for people; nothing secret.
    package var message: String

    /// Makes a failure.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

/// How one request ended.
package struct TransportResult: Sendable, Equatable {
    package var answer: Result<TransportAnswer, TransportFailure>
    /// Whether a byte of the request may have reached the endpoint.
    package var didSendRequest: Bool
    package var durationMilliseconds: Int64

    /// Makes a result.
    package init(
        answer: Result<TransportAnswer, TransportFailure>, didSendRequest: Bool, durationMilliseconds: Int64
    ) {
        self.answer = answer
        self.didSendRequest = didSendRequest
        self.durationMilliseconds = durationMilliseconds
    }
}

/// The end of the request that had this number.
package struct TransportEnd: Sendable, Equatable {
    package var number: Int
    package var result: TransportResult

    /// Makes an end.
    package init(number: Int, _ result: TransportResult) {
        self.number = number
        self.result = result
    }
}

/// Carries requests to endpoints.
package protocol Transport: Sendable {
    /// Sets who is told of ends, before the first request: each request ends exactly once, and what ends together is told
    /// in one call, on any thread.
    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void)
    /// Begins requests.
    func send(_ requests: [TransportRequest])
    /// Ends everything in flight with a failure of kind `cancelled`.
    func cancelAll()
    /// Drops idle connections and remembered addresses, because the network changed.
    func dropConnections()
    /// Calls `completion` when the transport's own loop comes round, which shows that it is not hung.
    func check(_ completion: @escaping @Sendable () -> Void)
}

extension Transport {
    /// A transport without a loop of its own cannot hang.
    package func check(_ completion: @escaping @Sendable () -> Void) { completion() }
}
