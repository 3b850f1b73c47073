import CCurl
import Glibc
import KleosConfig

/// One transfer over one of libcurl's easy handles, which is used again and again. Belongs to the transfer thread.
///
/// Why its pointers are sound: strings are copied by libcurl; the list of headers and the buffer for errors live until
/// after the handle is cleaned up or given others; callbacks copy what they get before they return.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    private(set) var origin = ""
    private var completion: (@Sendable (TransportResult) -> Void)?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    private var body: [UInt8] = []
    private var maximumBytes = 0
    private var isTooLarge = false
    private var headerBytes = 0
    private var fields: [String: String] = [:]
    /// Whether the empty line after the header fields came.
    private var isHeaderComplete = false

    /// The most that the header fields of one exchange may take, those of interim answers and trailers included.
    private static let maximumHeaderBytes = 65_536
    private static let keptFields: Set<String> = ["content-type", "retry-after", "location"]

    /// Makes a handle; nil where memory is gone.
    init?() {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        errorText.deallocate()
    }

    /// Sets the handle up for a request.
    func prepare(
        _ order: CurlTransport.Order, userAgent: String, reuse: ConnectionFreshness.Reuse, origin: String
    ) {
        let request = order.request
        completion = order.completion
        self.origin = origin
        body.removeAll(keepingCapacity: body.capacity <= 65_536)
        maximumBytes = request.maximumAnswerBytes
        isTooLarge = false
        headerBytes = 0
        fields = [:]
        isHeaderComplete = false
        errorText[0] = 0
        curl_easy_reset(easy)
        setLimits(request)
        setConnection(request, userAgent: userAgent, reuse: reuse)
        setMessage(request)
        setCallbacks()
    }

    private func setLimits(_ request: TransportRequest) {
        kleos_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it a name server that does not answer holds up every other transfer for seconds.
        kleos_easy_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        kleos_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(request.connectTimeoutMilliseconds))
        kleos_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Int(request.timeoutMilliseconds))
        kleos_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        kleos_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    }

    private func setConnection(_ request: TransportRequest, userAgent: String, reuse: ConnectionFreshness.Reuse) {
        kleos_easy_set_string(easy, CURLOPT_URL, request.url)
        kleos_easy_set_string(easy, CURLOPT_USERAGENT, userAgent)
        kleos_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        kleos_easy_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        kleos_easy_set_long(easy, CURLOPT_FRESH_CONNECT, reuse.isForbidden || request.mustGoOutOnce ? 1 : 0)
        kleos_easy_set_long(easy, CURLOPT_MAXAGE_CONN, Int(reuse.maximumIdleSeconds))
        kleos_easy_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, reuse.isForbidden ? 0 : Int(reuse.maximumIdleSeconds))
        if ServiceAddress.isLoopback(request.url) { kleos_easy_set_string(easy, CURLOPT_NOPROXY, "*") }
        if let file = request.certificateAuthorityFile {
            kleos_easy_set_string(easy, CURLOPT_CAINFO, file)
            // Where libcurl was built with a folder of authorities, those of the system would stay in force beside
            // these.
            kleos_easy_set_string(easy, CURLOPT_CAPATH, nil)
            // What was read is kept for a day otherwise, however often the file is mended meanwhile.
            kleos_easy_set_long(easy, CURLOPT_CA_CACHE_TIMEOUT, 0)
        }
    }

    private func setMessage(_ request: TransportRequest) {
        curl_slist_free_all(headers)
        // An empty Expect stops libcurl from waiting for "100 Continue".
        headers = curl_slist_append(nil, "Expect:")
        for (name, value) in request.headers { headers = curl_slist_append(headers, "\(name): \(value)") }
        kleos_easy_set_list(easy, CURLOPT_HTTPHEADER, headers)
        kleos_easy_set_long(easy, CURLOPT_POST, 1)
        kleos_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
        _ = request.body.withUnsafeBytes { bytes in
            // Sound: libcurl copies as many bytes as the size set above says before it returns.
            kleos_easy_set_bytes(easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
        }
    }

    private func setCallbacks() {
        // Sound: libcurl calls back only while this object is in the loop's list of transfers, which keeps it alive.
        let context = Unmanaged.passUnretained(self).toOpaque()
        kleos_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        kleos_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        kleos_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
        kleos_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            CurlTransfer.from(context)?.receive(data, size * count) ?? 0
        }
        kleos_easy_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            CurlTransfer.from(context)?.receiveHeader(data, size * count) ?? 0
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        // Sound: the context is what setCallbacks passed, this type's object, alive as it says there.
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes a piece of the body; any other count than `count` ends the transfer.
    private func receive(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard body.count + count <= maximumBytes else {
            isTooLarge = true
            return 0
        }
        body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
        return count
    }

    private func receiveHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerBytes += count
        guard headerBytes <= Self.maximumHeaderBytes else { return 0 }
        let line = UnsafeRawBufferPointer(start: data, count: count)
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon < 32 else {
            // A status line begins another answer, after an interim one for example.
            if line.starts(with: "HTTP/".utf8) {
                fields = [:]
                isHeaderComplete = false
            } else if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
                isHeaderComplete = true
            }
            return count
        }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        if Self.keptFields.contains(name), count < 4_096 {
            let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            let text = String(decoding: value, as: UTF8.self)
            let trimmed = String(text.reversed().drop { $0.isWhitespace }.reversed())
            // Which of several waits counts is for others to decide.
            fields[name] = name == "retry-after" ? fields[name].map { "\($0)\n\(trimmed)" } ?? trimmed : trimmed
        }
        return count
    }

    func takeCompletion() -> (@Sendable (TransportResult) -> Void)? {
        defer { completion = nil }
        return completion
    }

    /// The connection's socket; nil where there is none, or none any more.
    var socket: Int32? {
        var socket: curl_socket_t = -1
        kleos_easy_get_socket(easy, CURLINFO_ACTIVESOCKET, &socket)
        return socket >= 0 ? socket : nil
    }

    /// What the finished transfer came to.
    func result(_ code: CURLcode, isCancelled: Bool) -> TransportResult {
        var preTransfer: curl_off_t = 0
        var total: curl_off_t = 0
        kleos_easy_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T, &preTransfer)
        kleos_easy_get_offset(easy, CURLINFO_TOTAL_TIME_T, &total)
        return TransportResult(
            answer: answer(code, isCancelled: isCancelled, didSend: preTransfer > 0), didSendRequest: preTransfer > 0,
            durationMilliseconds: Int64(total / 1000))
    }

    private func answer(
        _ code: CURLcode, isCancelled: Bool, didSend: Bool
    ) -> Result<TransportAnswer, TransportFailure> {
        if isCancelled { return .failure(TransportFailure(.cancelled, "interrupted: the daemon was stopping")) }
        if isTooLarge {
            return .failure(TransportFailure(.tooLarge, "the answer has more than \(maximumBytes) bytes"))
        }
        if headerBytes > Self.maximumHeaderBytes {
            let message = "the answer's header fields have more than \(Self.maximumHeaderBytes) bytes"
            return .failure(TransportFailure(.tooLarge, message))
        }
        guard code == CURLE_OK else { return .failure(failure(code, didSend: didSend)) }
        // libcurl takes a connection that ends among the header fields for the end of an answer without a body.
        guard isHeaderComplete else {
            return .failure(
                TransportFailure(.broken, "the exchange broke off: the answer ends among its header fields"))
        }
        var status = 0
        kleos_easy_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return .success(
            TransportAnswer(
                status: status, body: body, contentType: fields["content-type"], retryAfter: fields["retry-after"],
                location: fields["location"]))
    }

    private func failure(_ code: CURLcode, didSend: Bool) -> TransportFailure {
        let detail = String(cString: errorText)
        let words = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return TransportFailure(.dns, "the name cannot be resolved: \(words)")
        case CURLE_COULDNT_CONNECT: return connectFailure(words)
        case CURLE_OPERATION_TIMEDOUT: return TransportFailure(.timeout, "no answer in time: \(words)")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return tlsFailure(words)
        // This is also what libcurl calls an answer that is no HTTP.
        case CURLE_UNSUPPORTED_PROTOCOL where didSend:
            return TransportFailure(.broken, "the answer is no HTTP: \(words)")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return TransportFailure(.unusable, "the URL cannot be used: \(words)")
        default: return TransportFailure(.broken, "the exchange broke off: \(words)")
        }
    }

    private func connectFailure(_ words: String) -> TransportFailure {
        var code = 0
        kleos_easy_get_long(easy, CURLINFO_OS_ERRNO, &code)
        return code == Int(ECONNREFUSED)
            ? TransportFailure(.refused, "the connection was refused: \(words)")
            : TransportFailure(.unreachable, "the endpoint cannot be reached: \(words)")
    }

    private func tlsFailure(_ words: String) -> TransportFailure {
        var verified = 0
        kleos_easy_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verified)
        // Numbers of X509_V_ERR_… (verify(1ssl)).
        switch verified {
        case 9:
            return TransportFailure(
                .certificateNotYetValid, "the certificate is not valid yet, or this machine's clock is behind: \(words)"
            )
        case 10:
            return TransportFailure(
                .certificateExpired, "the certificate has expired, or this machine's clock is ahead: \(words)")
        case 18:
            return TransportFailure(
                .tls, "the certificate is self-signed; name it in CertificateAuthorities=: \(words)")
        // Also where the chain that came ends in an authority that is not trusted, which is self-signed as all are.
        case 19, 20, 21:
            return TransportFailure(
                .tls,
                "nobody that is trusted issued the certificate; name its authority in CertificateAuthorities=: \(words)"
            )
        default: return TransportFailure(.tls, "no secure connection: \(words)")
        }
    }
}
