/// One HTTP request, complete.
package struct TransportRequest: Sendable, Equatable {
    package var url: String
    /// Names and values; a value may be secret.
    package var headers: [(name: String, value: String)]
    /// Sent by POST.
    package var body: [UInt8]
    package var connectTimeoutMilliseconds: Int64
    /// For the whole exchange.
    package var timeoutMilliseconds: Int64
    /// A larger answer is a failure.
    package var maximumAnswerBytes: Int
    /// Whether plain http may leave the machine.
    package var allowsInsecure: Bool
    /// Whether a second copy would count twice, so that no connection is used again: libcurl repeats a request by
    /// itself where an idle connection turns out to be dead.
    package var mustGoOutOnce: Bool
    /// A file with certificate authorities in PEM form, trusted in place of the system's.
    package var certificateAuthorityFile: String?

    /// Makes a request from its parts.
    package init(
        url: String, headers: [(name: String, value: String)], body: [UInt8], connectTimeoutMilliseconds: Int64,
        timeoutMilliseconds: Int64, maximumAnswerBytes: Int, allowsInsecure: Bool, mustGoOutOnce: Bool = false,
        certificateAuthorityFile: String?
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumAnswerBytes = maximumAnswerBytes
        self.allowsInsecure = allowsInsecure
        self.mustGoOutOnce = mustGoOutOnce
        self.certificateAuthorityFile = certificateAuthorityFile
    }

    package static func == (left: TransportRequest, right: TransportRequest) -> Bool {
        left.url == right.url && left.body == right.body
            && left.headers.elementsEqual(right.headers) { $0.name == $1.name && $0.value == $1.value }
            && left.connectTimeoutMilliseconds == right.connectTimeoutMilliseconds
            && left.timeoutMilliseconds == right.timeoutMilliseconds
            && left.maximumAnswerBytes == right.maximumAnswerBytes && left.allowsInsecure == right.allowsInsecure
            && left.mustGoOutOnce == right.mustGoOutOnce
            && left.certificateAuthorityFile == right.certificateAuthorityFile
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

/// Carries requests to endpoints. Every request ends in exactly one call of its completion, on any thread.
package protocol Transport: Sendable {
    /// Begins a request.
    func send(_ request: TransportRequest, completion: @escaping @Sendable (TransportResult) -> Void)
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
