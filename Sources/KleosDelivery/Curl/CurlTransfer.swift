import CCurl
import Glibc
import KleosSupport

/// One transfer over one of libcurl's easy handles, which is used again and again. Belongs to the transfer thread.
///
/// Why its pointers are sound: strings are copied by libcurl; the lists of headers and the buffer for errors live until
/// after the handle is cleaned up or given others; callbacks copy what they get before they return.
final class CurlTransfer {
    /// Why a request was stopped before its first byte.
    enum Refusal {
        /// The connection cannot be trusted with it.
        case connection
        /// It went out before, and nobody knows what came of it.
        case repetition
    }

    let easy: UnsafeMutableRawPointer
    /// What the handle is set up for.
    private(set) var route: TransportRoute?
    private(set) var number = 0
    private let connections: Connections
    private let clock: SystemClock
    /// What the request went out over.
    private var connection: Connections.Key?
    private var refusal: Refusal?
    /// Whether a byte of the request may have gone out.
    private var hasGoneOut = false
    /// Whether that was over a connection that had been used before.
    private var wentOutOverUsed = false
    /// Whether libcurl repeated it; it counts that until the handle is reset, and gives up at some number.
    private var wasRepeated = false
    /// How many connections libcurl had made for it when it went out.
    private var connectionsMade = 0
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var routeHeaders: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    private var body: [UInt8] = []
    private var maximumBytes = 0
    private var isTooLarge = false
    private var headerBytes = 0
    private var fields: [String: String] = [:]
    /// Whether the answer began as one of HTTP/1.
    private var speaksHTTP1 = false
    /// Whether the empty line after the header fields came.
    private var isHeaderComplete = false

    /// The most that the header fields of one exchange may take, those of interim answers and trailers included.
    private static let maximumHeaderBytes = 65_536
    private static let keptFields = ["content-type", "retry-after", "location"]
    private static let keptLengths = keptFields.map(\.utf8.count)

    /// Makes a handle; nil where memory is gone.
    init?(connections: Connections, clock: SystemClock) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.connections = connections
        self.clock = clock
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        freeHeaders()
        curl_slist_free_all(routeHeaders)
        errorText.deallocate()
    }

    /// Sets the handle up for a request.
    func prepare(_ request: TransportRequest, userAgent: String) {
        number = request.number
        hasGoneOut = false
        if route !== request.route || wasRepeated { follow(request.route, userAgent: userAgent) }
        setMessage(request)
        begin(isNew: connections.mustBeNew(for: request.route, nowMilliseconds: clock.bootMilliseconds))
    }

    /// Where the request was refused a connection, sets the handle up to try again over a new one; false where nothing is
    /// to be tried.
    func prepareAgain() -> Bool {
        guard case .connection = refusal else { return false }
        begin(isNew: true)
        return true
    }

    private func begin(isNew: Bool) {
        body.removeAll(keepingCapacity: body.capacity <= 65_536)
        isTooLarge = false
        headerBytes = 0
        fields = [:]
        isHeaderComplete = false
        speaksHTTP1 = false
        errorText[0] = 0
        connection = nil
        refusal = nil
        connectionsMade = 0
        let origin = route?.origin ?? ""
        let seconds = connections.maximumAddressSeconds(origin: origin, nowMilliseconds: clock.bootMilliseconds)
        kleos_easy_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, Int(seconds))
        kleos_easy_set_long(easy, CURLOPT_FRESH_CONNECT, isNew ? 1 : 0)
        kleos_easy_set_long(easy, CURLOPT_FORBID_REUSE, 0)
    }

    /// Sets what stays the same for all requests of a route.
    private func follow(_ route: TransportRoute, userAgent: String) {
        self.route = route
        wasRepeated = false
        maximumBytes = route.maximumAnswerBytes
        curl_easy_reset(easy)
        setLimits(route)
        setConnection(route, userAgent: userAgent)
        setCallbacks()
        freeHeaders()
        curl_slist_free_all(routeHeaders)
        // An empty Expect stops libcurl from waiting for "100 Continue".
        routeHeaders = curl_slist_append(nil, "Expect:")
        for (name, value) in route.headers { routeHeaders = curl_slist_append(routeHeaders, "\(name): \(value)") }
    }

    private func setLimits(_ route: TransportRoute) {
        kleos_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it a name server that does not answer holds up every other transfer for seconds.
        kleos_easy_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        kleos_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(route.connectTimeoutMilliseconds))
        kleos_easy_set_long(easy, CURLOPT_TIMEOUT_MS, Int(route.timeoutMilliseconds))
        kleos_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        kleos_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    }

    private func setConnection(_ route: TransportRoute, userAgent: String) {
        kleos_easy_set_string(easy, CURLOPT_URL, route.url)
        kleos_easy_set_string(easy, CURLOPT_USERAGENT, userAgent)
        kleos_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        kleos_easy_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        let idle =
            route.mustGoOutOnce
            ? connections.idleMillisecondsForOnce / 1_000 : ConnectionFreshness.usualIdleSeconds
        kleos_easy_set_long(easy, CURLOPT_MAXAGE_CONN, Int(idle))
        if route.isLoopback { kleos_easy_set_string(easy, CURLOPT_NOPROXY, "*") }
        if let file = route.certificateAuthorityFile {
            kleos_easy_set_string(easy, CURLOPT_CAINFO, file)
            // Where libcurl was built with a folder of authorities, those of the system would stay in force beside
            // these.
            kleos_easy_set_string(easy, CURLOPT_CAPATH, nil)
            // What was read is kept for a day otherwise, however often the file is mended meanwhile.
            kleos_easy_set_long(easy, CURLOPT_CA_CACHE_TIMEOUT, 0)
        }
    }

    private func setMessage(_ request: TransportRequest) {
        freeHeaders()
        for (name, value) in request.headers { headers = curl_slist_append(headers, "\(name): \(value)") }
        // The route's own follow, and stay the route's.
        if let last = lastOfHeaders { last.pointee.next = routeHeaders }
        kleos_easy_set_list(easy, CURLOPT_HTTPHEADER, headers ?? routeHeaders)
        kleos_easy_set_long(easy, CURLOPT_POST, 1)
        kleos_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
        _ = request.body.withUnsafeBytes { bytes in
            // Sound: libcurl copies as many bytes as the size set above says before it returns.
            kleos_easy_set_bytes(easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
        }
    }

    /// The last of the request's own headers.
    private var lastOfHeaders: UnsafeMutablePointer<curl_slist>? {
        var last = headers
        while let next = last?.pointee.next, next != routeHeaders { last = next }
        return last
    }

    private func freeHeaders() {
        lastOfHeaders?.pointee.next = nil
        curl_slist_free_all(headers)
        headers = nil
    }

    private func setCallbacks() {
        // Sound: libcurl calls back only while this object is in the loop's list of transfers, which keeps it alive.
        let context = Unmanaged.passUnretained(self).toOpaque()
        kleos_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        kleos_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        kleos_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
        kleos_easy_set_pointer(easy, CURLOPT_PREREQDATA, context)
        kleos_easy_set_prerequest_callback(easy) { context, remoteAddress, localAddress, remotePort, localPort in
            guard let transfer = CurlTransfer.from(context), let remoteAddress, let localAddress else {
                return CURL_PREREQFUNC_ABORT
            }
            let key = Connections.Key(
                localAddress: String(cString: localAddress), localPort: localPort,
                remoteAddress: String(cString: remoteAddress), remotePort: remotePort)
            return transfer.goesOut(over: key) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
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

    /// The request is about to go out, maybe not for the first time: libcurl repeats one by itself where a connection that
    /// was used before breaks without an answer, and where HTTP/2 says that it was not read.
    private func goesOut(over key: Connections.Key) -> Bool {
        guard let route else { return false }
        let now = clock.bootMilliseconds
        var made = 0
        kleos_easy_get_long(easy, CURLINFO_NUM_CONNECTS, &made)
        let isNew = made > connectionsMade
        connectionsMade = made
        leaveConnection(isComplete: false, nowMilliseconds: now)
        if hasGoneOut {
            if wentOutOverUsed {
                connections.leave(origin: route.origin, nowMilliseconds: now)
                if route.mustGoOutOnce { refusal = .repetition }
            }
            wasRepeated = true
        }
        if refusal == nil {
            if isNew {
                connections.begin(self, new: key, nowMilliseconds: now)
            } else if !connections.begin(self, used: key, for: route, nowMilliseconds: now) {
                refusal = .connection
                // Else libcurl keeps one of HTTP/2, and chooses it again and again.
                kleos_easy_set_long(easy, CURLOPT_FORBID_REUSE, 1)
            }
        }
        guard refusal == nil else { return false }
        connection = key
        hasGoneOut = true
        wentOutOverUsed = !isNew
        return true
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
                speaksHTTP1 = line.starts(with: "HTTP/1".utf8)
            } else if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
                isHeaderComplete = true
            }
            return count
        }
        // Most fields are told by the length of their names.
        guard Self.keptLengths.contains(colon) else { return count }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        if Self.keptFields.contains(name), count < 4_096 {
            var value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            while let last = value.last, last <= 0x20 { value.removeLast() }
            let trimmed = String(decoding: value, as: UTF8.self)
            // Which of several waits counts is for others to decide.
            fields[name] = name == "retry-after" ? fields[name].map { "\($0)\n\(trimmed)" } ?? trimmed : trimmed
        }
        return count
    }

    /// Another request goes out over the connection: unless they share it, as in HTTP/2, this exchange is over, though
    /// libcurl may not have told of it yet.
    func isFollowed(over key: Connections.Key, nowMilliseconds now: Int64) {
        if connection == key, speaksHTTP1 { leaveConnection(isComplete: true, nowMilliseconds: now) }
    }

    /// Notes what the end of an exchange says about its connection.
    func leaveConnection(isComplete: Bool, nowMilliseconds now: Int64) {
        guard let key = connection else { return }
        connection = nil
        var socket: curl_socket_t = -1
        var version = 0
        kleos_easy_get_socket(easy, CURLINFO_ACTIVESOCKET, &socket)
        kleos_easy_get_long(easy, CURLINFO_HTTP_VERSION, &version)
        connections.end(
            key, socket: socket >= 0 ? socket : nil, isMultiplexed: version >= Int(CURL_HTTP_VERSION_2_0),
            isComplete: isComplete, nowMilliseconds: now)
    }

    /// What the finished transfer came to.
    func result(_ code: CURLcode, isCancelled: Bool) -> TransportResult {
        var total: curl_off_t = 0
        kleos_easy_get_offset(easy, CURLINFO_TOTAL_TIME_T, &total)
        return TransportResult(
            answer: answer(code, isCancelled: isCancelled, didSend: hasGoneOut), didSendRequest: hasGoneOut,
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
        if case .repetition = refusal {
            let message = "the exchange broke off: the endpoint left a connection that it had kept open before"
            return .failure(TransportFailure(.broken, message))
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
