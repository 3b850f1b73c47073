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
    private var freshness = ConnectionFreshness()
    private var idle = IdleConnections()
    private let clock = SystemClock()

    /// Idle handles that are kept for the next requests.
    private static let maximumSpares = 16
    /// After so long without transfers the heap's free pages go back to the system.
    private static let quietMilliseconds: Int32 = 10_000

    init(waker: Waker, userAgent: String) {
        self.waker = waker
        multi = waker.multi
        self.userAgent = userAgent
        kleos_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 32)
    }

    /// Runs for ever; `take` brings what there is to do.
    func run(take: () -> CurlTransport.Inbox) {
        // Reading the certificates of all authorities takes megabytes, which malloc keeps after they are freed.
        var isTrimmed = true
        while true {
            let inbox = take()
            let now = clock.read().bootMilliseconds
            if inbox.dropsConnections { freshness.drop(atMilliseconds: now) }
            if !inbox.orders.isEmpty { isTrimmed = false }
            for order in inbox.orders { begin(order, nowMilliseconds: now) }
            if inbox.cancelsAll { cancelAll() }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            let wasBusy = reap()
            for check in inbox.checks { check() }
            if wasBusy { continue }
            let isQuiet = transfers.isEmpty && !isTrimmed
            // libcurl shortens the wait to its own timers; a wake-up that came meanwhile ends it at once.
            curl_multi_poll(multi, nil, 0, isQuiet ? Self.quietMilliseconds : Int32.max, nil)
            if isQuiet, clock.read().bootMilliseconds - now >= Int64(Self.quietMilliseconds) {
                kleos_trim_heap()
                isTrimmed = true
            }
        }
    }

    private func begin(_ order: CurlTransport.Order, nowMilliseconds now: Int64) {
        if let problem = SecureAddress.problem(with: order.request) {
            let failure = TransportFailure(.unusable, problem)
            order.completion(
                TransportResult(answer: .failure(failure), didSendRequest: false, durationMilliseconds: 0))
            return
        }
        guard let transfer = spares.popLast() ?? CurlTransfer() else {
            let failure = TransportFailure(.broken, "out of memory")
            order.completion(
                TransportResult(answer: .failure(failure), didSendRequest: false, durationMilliseconds: 0))
            return
        }
        let origin = SecureAddress.origin(of: order.request.url)
        if idle.hasUnexpectedInput(origin: origin, besides: Set(transfers.values.compactMap(\.socket))) {
            freshness.drop(origin: origin, atMilliseconds: now)
        }
        transfer.prepare(
            order, userAgent: userAgent, reuse: freshness.reuse(origin: origin, atMilliseconds: now), origin: origin)
        transfers[transfer.easy] = transfer
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
            finish(transfer, result)
        }
        return isBusy
    }

    private func finish(_ transfer: CurlTransfer, _ code: CURLcode, isCancelled: Bool = false) {
        let result = transfer.result(code, isCancelled: isCancelled)
        if case .failure = result.answer, !isCancelled {
            freshness.drop(origin: transfer.origin, atMilliseconds: clock.read().bootMilliseconds)
        } else if let socket = transfer.socket {
            idle.add(socket, origin: transfer.origin)
        }
        curl_multi_remove_handle(multi, transfer.easy)
        transfers[transfer.easy] = nil
        let completion = transfer.takeCompletion()
        if spares.count < Self.maximumSpares { spares.append(transfer) }
        completion?(result)
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
