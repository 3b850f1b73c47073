import CCurl
import CLinux
import Glibc
import KleosSupport
import Synchronization

/// The loop of the transfer thread around libcurl's multi interface. Belongs to that thread alone.
final class CurlMulti {
    /// Wakes the loop from any thread.
    final class Waker: Sendable {
        private let handle: CurlHandle

        init() {
            Self.initialize
            // It fails only where memory is gone, before anything was accepted.
            guard let multi = curl_multi_init() else { fatalError("libcurl gives no multi handle: out of memory") }
            handle = CurlHandle(multi: multi)
        }

        var multi: UnsafeMutableRawPointer { handle.multi }

        func wake() {
            // An error means that a wake-up is already waiting, which is as good.
            curl_multi_wakeup(handle.multi)
        }

        private static let initialize: Void = {
            // libcurl's global state must exist once, before any handle (curl_global_init(3)).
            guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK else {
                fatalError("libcurl cannot be initialized")
            }
        }()
    }

    private let waker: Waker
    private let multi: UnsafeMutableRawPointer
    private let userAgent: String
    private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    private var spares: [CurlTransfer] = []
    /// What ended in this turn and is not told yet.
    private var ends: [TransportEnd] = []
    private let connections: Connections
    private let clock = SystemClock()

    /// The most transfers at once so far, or more.
    private var mostAtOnce = 32

    /// Idle handles that are kept for the next requests.
    private static let maximumSpares = 64
    /// Exchanges that share a connection of HTTP/2; libcurl's own limit.
    private static let maximumStreams = 100
    /// After so long without transfers the heap's free pages go back to the system.
    private static let quietMilliseconds: Int32 = 10_000

    init(waker: Waker, userAgent: String, idleMillisecondsForOnce: Int64) {
        self.waker = waker
        multi = waker.multi
        self.userAgent = userAgent
        connections = Connections(idleMillisecondsForOnce: idleMillisecondsForOnce)
        kleos_multi_set_long(multi, CURLMOPT_MAXCONNECTS, mostAtOnce)
    }

    /// Runs for ever; `take` brings what there is to do, and `tell` gets what ended in one turn.
    func run(take: () -> CurlTransport.Inbox, tell: ([TransportEnd]) -> Void) {
        // Reading the certificates of all authorities takes megabytes, which malloc keeps after they are freed.
        var isTrimmed = true
        while true {
            let inbox = take()
            let now = clock.bootMilliseconds
            if inbox.dropsConnections { connections.drop(nowMilliseconds: now) }
            if !inbox.requests.isEmpty { isTrimmed = false }
            begin(inbox.requests)
            if inbox.cancelsAll { cancelAll() }
            perform()
            let wasBusy = reap()
            if !ends.isEmpty {
                tell(ends)
                ends.removeAll(keepingCapacity: true)
            }
            for check in inbox.checks { check() }
            if wasBusy { continue }
            let isQuiet = transfers.isEmpty && !isTrimmed
            // libcurl shortens the wait to its own timers; a wake-up that came meanwhile ends it at once.
            curl_multi_poll(multi, nil, 0, isQuiet ? Self.quietMilliseconds : Int32.max, nil)
            if isQuiet, clock.bootMilliseconds - now >= Int64(Self.quietMilliseconds) {
                kleos_trim_heap()
                isTrimmed = true
            }
        }
    }

    private func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
    }

    private func begin(_ requests: [TransportRequest]) {
        let once = requests.filter { $0.route.mustGoOutOnce }
        if !once.isEmpty {
            // libcurl chooses their connections while none may be shared; one that is would be refused them.
            kleos_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1)
            for request in once { begin(request) }
            perform()
        }
        kleos_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, Self.maximumStreams)
        for request in requests where !request.route.mustGoOutOnce { begin(request) }
    }

    private func begin(_ request: TransportRequest) {
        if let problem = request.route.problem { return fail(request, .unusable, problem) }
        guard let transfer = spare(for: request.route) else { return fail(request, .broken, "out of memory") }
        transfer.prepare(request, userAgent: userAgent)
        transfers[transfer.easy] = transfer
        if transfers.count > mostAtOnce {
            // libcurl keeps no more connections than it is told to, and would close some of those at work at their ends.
            mostAtOnce = transfers.count * 2
            kleos_multi_set_long(multi, CURLMOPT_MAXCONNECTS, mostAtOnce)
        }
        add(transfer)
    }

    private func fail(_ request: TransportRequest, _ kind: TransportFailure.Kind, _ message: String) {
        let failure = TransportFailure(kind, message)
        ends.append(
            TransportEnd(
                number: request.number,
                TransportResult(answer: .failure(failure), didSendRequest: false, durationMilliseconds: 0)))
    }

    /// A handle to use: one that is set up for the route where there is one.
    private func spare(for route: TransportRoute) -> CurlTransfer? {
        if let index = spares.lastIndex(where: { $0.route === route }) { return spares.remove(at: index) }
        return spares.popLast() ?? CurlTransfer(connections: connections, clock: clock)
    }

    private func add(_ transfer: CurlTransfer) {
        let code = curl_multi_add_handle(multi, transfer.easy)
        if code != CURLM_OK { finish(transfer, CURLE_FAILED_INIT) }
    }

    /// Completes what is done; returns whether anything was.
    private func reap() -> Bool {
        var isBusy = false
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = transfers[easy]
            else { continue }
            let result = kleos_message_result(message)
            isBusy = true
            if result == CURLE_ABORTED_BY_CALLBACK, transfer.prepareAgain() {
                curl_multi_remove_handle(multi, easy)
                add(transfer)
            } else {
                finish(transfer, result)
            }
        }
        return isBusy
    }

    private func finish(_ transfer: CurlTransfer, _ code: CURLcode, isCancelled: Bool = false) {
        let result = transfer.result(code, isCancelled: isCancelled)
        let now = clock.bootMilliseconds
        var isComplete = true
        if case .failure = result.answer { isComplete = false }
        transfer.leaveConnection(isComplete: isComplete, nowMilliseconds: now)
        if !isComplete, !isCancelled { connections.drop(origin: transfer.route?.origin, nowMilliseconds: now) }
        curl_multi_remove_handle(multi, transfer.easy)
        transfers[transfer.easy] = nil
        ends.append(TransportEnd(number: transfer.number, result))
        if spares.count < Self.maximumSpares { spares.append(transfer) }
    }

    private func cancelAll() {
        for transfer in Array(transfers.values) { finish(transfer, CURLE_ABORTED_BY_CALLBACK, isCancelled: true) }
    }
}

/// libcurl's multi handle, shared with the threads that wake the loop.
///
/// Unchecked, because a pointer is not Sendable by itself: curl_multi_wakeup(3) is the one function that other threads
/// call with it, and it is documented as safe from any thread; the handle is never freed.
private struct CurlHandle: @unchecked Sendable {
    let multi: UnsafeMutableRawPointer
}
