import Dispatch
import KleosDelivery
import KleosTestSupport
import Synchronization
import Testing

/// A transport of a test, which tells each request's end to whoever began it.
final class Line: Sendable {
    private let transport: CurlTransport
    private let state = Mutex<(next: Int, waiting: [Int: @Sendable (TransportResult) -> Void])>((1, [:]))
    /// How many ends were told together, each time.
    let bursts = Watched<[Int]>([])

    /// However slow the machine is: a second between two requests is nothing to most tests.
    init(idleMillisecondsForOnce: Int64 = 600_000) {
        transport = CurlTransport(userAgent: "kleos-tests", idleMillisecondsForOnce: idleMillisecondsForOnce)
        transport.setEndHandler { [self] ends in
            for end in ends { self.state.withLock { $0.waiting[end.number] }?(end.result) }
            self.bursts.change { $0.append(ends.count) }
        }
    }

    func begin(_ request: TransportRequest) -> Exchange {
        begin([request])[0]
    }

    /// Begins the requests together.
    func begin(_ requests: [TransportRequest]) -> [Exchange] {
        let exchanges = requests.map { _ in Exchange() }
        let numbered = zip(requests, exchanges).map { request, exchange in
            var request = request
            request.number = state.withLock { state in
                defer { state.next += 1 }
                state.waiting[state.next] = { exchange.end($0) }
                return state.next
            }
            return request
        }
        transport.send(numbered)
        return exchanges
    }

    func cancelAll() { transport.cancelAll() }
    func dropConnections() { transport.dropConnections() }
    func check(_ completion: @escaping @Sendable () -> Void) { transport.check(completion) }
}

/// A transfer under way, and its end.
final class Exchange: Sendable {
    private let results = Mutex<[TransportResult]>([])
    private let open = DispatchGroup()

    fileprivate init() { open.enter() }

    fileprivate func end(_ result: TransportResult) {
        let isFirst = results.withLock { results in
            results.append(result)
            return results.count == 1
        }
        if isFirst { open.leave() }
    }

    /// Waits for the end, half a minute at most.
    func result() throws -> TransportResult {
        try #require(open.wait(timeout: Patience.end) == .success, "the transfer never ended")
        let all = results.withLock { $0 }
        #expect(all.count == 1, "a transfer ends exactly once")
        return all[0]
    }

    func answer() throws -> TransportAnswer { try result().answer.get() }

    func failure() throws -> TransportFailure {
        switch try result().answer {
        case .failure(let failure): failure
        case .success(let answer): throw UnexpectedAnswer(status: answer.status)
        }
    }

    struct UnexpectedAnswer: Error { var status: Int }
}

/// The transport's thread lives as long as the process, so that the tests share one.
let sharedLine = Line()

func post(
    _ url: String, headers: [(name: String, value: String)] = [("Content-Type", "application/json")],
    body: String = "{}", connectTimeoutMilliseconds: Int64 = 10_000, timeoutMilliseconds: Int64 = 20_000,
    maximumAnswerBytes: Int = 262_144,
    allowsInsecure: Bool = false, mustGoOutOnce: Bool = false, certificateAuthorityFile: String? = nil
) -> TransportRequest {
    TransportRequest(
        route: TransportRoute(
            url: url, headers: [], connectTimeoutMilliseconds: connectTimeoutMilliseconds,
            timeoutMilliseconds: timeoutMilliseconds,
            maximumAnswerBytes: maximumAnswerBytes, allowsInsecure: allowsInsecure, mustGoOutOnce: mustGoOutOnce,
            certificateAuthorityFile: certificateAuthorityFile),
        headers: headers, body: Array(body.utf8))
}
