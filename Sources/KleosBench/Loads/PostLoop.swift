import CCurl
import Glibc
import KleosSupport

/// The least that HTTP costs: libcurl's multi interface with a fixed number of requests at a time, each prepared anew
/// as a delivery's is.
final class PostLoop {
    private static let discard: kleos_data_callback = { _, size, count, _ in size * count }

    private let url: String
    private let handle: UnsafeMutableRawPointer
    private let clock = SystemClock()
    private var requests: [UnsafeMutableRawPointer: (headers: UnsafeMutablePointer<curl_slist>?, startedAt: Int64)] =
        [:]
    private var number = 0
    private var latencies: [Double] = []

    private init(url: String) throws(BenchFailure) {
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let multi = curl_multi_init() else {
            throw BenchFailure("libcurl cannot be initialized")
        }
        self.url = url
        handle = multi
    }

    deinit {
        for (easy, request) in requests {
            curl_multi_remove_handle(handle, easy)
            curl_easy_cleanup(easy)
            curl_slist_free_all(request.headers)
        }
        curl_multi_cleanup(handle)
    }

    /// Posts to `url` with `connections` requests at a time. Throws `BenchFailure`.
    static func run(url: String, connections: Int, seconds: Double) throws(BenchFailure) -> LoadResult {
        try PostLoop(url: url).run(connections: connections, seconds: seconds)
    }

    private func run(connections: Int, seconds: Double) throws(BenchFailure) -> LoadResult {
        let ownBefore = ProcessUsage.ownMicroseconds
        let began = clock.monotonicNanoseconds
        let end = began + Int64(seconds * 1e9)
        for _ in 0..<connections {
            guard let easy = curl_easy_init() else { throw BenchFailure("out of memory") }
            begin(easy)
        }
        while latencies.count < number {
            var running: Int32 = 0
            curl_multi_perform(handle, &running)
            var remaining: Int32 = 0
            while let message = curl_multi_info_read(handle, &remaining) {
                guard let easy = message.pointee.easy_handle else { continue }
                try finish(easy, kleos_message_result(message))
                if clock.monotonicNanoseconds < end { begin(easy) }
            }
            if latencies.count < number { curl_multi_poll(handle, nil, 0, 100, nil) }
        }
        return LoadResult(
            count: latencies.count, seconds: Double(clock.monotonicNanoseconds - began) / 1e9, latencies: latencies,
            ownMicroseconds: ProcessUsage.ownMicroseconds - ownBefore)
    }

    private func begin(_ easy: UnsafeMutableRawPointer) {
        curl_slist_free_all(requests[easy]?.headers)
        let key = "0193764f-0000-7000-8000-" + String(String(1_000_000_000_000 + number).suffix(12))
        let body =
            "{\"key\":\"\(key)\",\"game\":\"bench\",\"player\":\"player-\(number % 1_000)\",\"leaderboard\":\"runs\","
            + "\"value\":\"\(number)\",\"order\":\"descending\",\"keep\":\"every\",\"recordedAt\":\"2026-01-01T00:00:00.000Z\"}"
        curl_easy_reset(easy)
        kleos_easy_set_string(easy, CURLOPT_URL, "\(url)/v1/scores")
        var headers = curl_slist_append(nil, "Content-Type: application/json")
        headers = curl_slist_append(headers, "Expect:")
        headers = curl_slist_append(headers, "Idempotency-Key: \"\(key)\"")
        kleos_easy_set_list(easy, CURLOPT_HTTPHEADER, headers)
        kleos_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION, Self.discard)
        kleos_easy_set_long(easy, CURLOPT_POSTFIELDSIZE, body.utf8.count)
        kleos_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        kleos_easy_set_long(easy, CURLOPT_TIMEOUT, 20)
        kleos_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, body)
        number += 1
        requests[easy] = (headers, clock.monotonicNanoseconds)
        curl_multi_add_handle(handle, easy)
    }

    private func finish(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) throws(BenchFailure) {
        guard code == CURLE_OK else {
            throw BenchFailure("post to \(url): \(String(cString: curl_easy_strerror(code)))")
        }
        var status = 0
        kleos_easy_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        guard (200...299).contains(status) else { throw BenchFailure("post to \(url): status \(status)") }
        let now = clock.monotonicNanoseconds
        latencies.append(Double(now - (requests[easy]?.startedAt ?? now)) / 1e3)
        curl_multi_remove_handle(handle, easy)
    }
}
