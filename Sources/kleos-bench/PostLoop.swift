import CCurl
import Glibc
import KleosSupport

/// The least that HTTP costs: libcurl's multi interface with a fixed number of requests at a time.
enum PostLoop {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private static let discard: kleos_data_callback = { _, size, count, _ in size * count }

    static func run(url: String, connections: Int, seconds: Double) throws(Failed) {
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let multi = curl_multi_init() else {
            throw Failed(description: "libcurl cannot be initialized")
        }
        let clock = SystemClock()
        let began = clock.monotonicNanoseconds
        let end = began + Int64(seconds * 1e9)
        var startedAt: [UnsafeMutableRawPointer: Int64] = [:]
        var number = 0
        func begin(_ easy: UnsafeMutableRawPointer) {
            prepare(easy, url: url, number: number)
            number += 1
            startedAt[easy] = clock.monotonicNanoseconds
            curl_multi_add_handle(multi, easy)
        }
        for _ in 0..<connections {
            guard let easy = curl_easy_init() else { throw Failed(description: "out of memory") }
            begin(easy)
        }
        var latencies: [Double] = []
        var running: Int32 = 1
        while running > 0 {
            curl_multi_perform(multi, &running)
            var remaining: Int32 = 0
            while let message = curl_multi_info_read(multi, &remaining) {
                guard let easy = message.pointee.easy_handle else { continue }
                let code = kleos_message_result(message)
                guard code == CURLE_OK else { throw Failed(description: String(cString: curl_easy_strerror(code))) }
                let now = clock.monotonicNanoseconds
                latencies.append(Double(now - (startedAt[easy] ?? now)) / 1e3)
                curl_multi_remove_handle(multi, easy)
                if now < end { begin(easy) }
                running = max(running, 1)
            }
            if running > 0 { curl_multi_poll(multi, nil, 0, 100, nil) }
            if clock.monotonicNanoseconds >= end, latencies.count >= number { break }
        }
        let elapsed = Double(clock.monotonicNanoseconds - began) / 1e9
        Bench.report("post_\(connections)", count: latencies.count, seconds: elapsed, latencies: latencies)
    }

    private static func prepare(_ easy: UnsafeMutableRawPointer, url: String, number: Int) {
        let key = "0193764f-0000-7000-8000-" + String(String(1_000_000_000_000 + number).suffix(12))
        let body =
            "{\"key\":\"\(key)\",\"game\":\"bench\",\"player\":\"player-\(number % 1_000)\",\"leaderboard\":\"runs\","
            + "\"value\":\"\(number)\",\"order\":\"descending\",\"keep\":\"every\",\"recordedAt\":\"2026-01-01T00:00:00.000Z\"}"
        curl_easy_reset(easy)
        kleos_easy_set_string(easy, CURLOPT_URL, "\(url)/v1/scores")
        var headers = curl_slist_append(nil, "Content-Type: application/json")
        headers = curl_slist_append(headers, "Expect:")
        headers = curl_slist_append(headers, "Idempotency-Key: \"\(key)\"")
        // Left to the end of the process: a measurement is short.
        kleos_easy_set_list(easy, CURLOPT_HTTPHEADER, headers)
        kleos_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION, discard)
        kleos_easy_set_long(easy, CURLOPT_POSTFIELDSIZE, body.utf8.count)
        kleos_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, body)
    }
}
