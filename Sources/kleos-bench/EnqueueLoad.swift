import Dispatch
import Glibc
import KleosSupport
import Synchronization

/// Clients that submit as fast as the daemon answers.
final class EnqueueLoad: Sendable {
    private let path: String
    private let clients: Int
    private let window: Int
    private let seconds: Double
    private let results = Mutex<(count: Int, latencies: [Double], failure: String?)>((0, [], nil))

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    init(path: String, clients: Int, window: Int, seconds: Double) {
        self.path = path
        self.clients = clients
        self.window = window
        self.seconds = seconds
    }

    func run() throws(Failed) {
        let group = DispatchGroup()
        let clock = SystemClock()
        let began = clock.monotonicNanoseconds
        for client in 0..<clients {
            DispatchQueue(label: "client \(client)").async(group: group) { self.runClient(client) }
        }
        group.wait()
        let elapsed = Double(clock.monotonicNanoseconds - began) / 1e9
        let (count, latencies, failure) = results.withLock { $0 }
        if let failure { throw Failed(description: failure) }
        Bench.report("enqueue_\(clients)x\(window)", count: count, seconds: elapsed, latencies: latencies)
    }

    private func runClient(_ client: Int) {
        do {
            let (count, latencies) = try submit(client)
            results.withLock { results in
                results.count += count
                results.latencies += latencies
            }
        } catch {
            results.withLock { $0.failure = "\(error)" }
        }
    }

    private func submit(_ client: Int) throws -> (Int, [Double]) {
        let socket = try UnixSocket.connect(to: path)
        let clock = SystemClock()
        let end = clock.monotonicNanoseconds + Int64(seconds * 1e9)
        var sentAt: [Int64] = []
        var sent = 0
        var answered = 0
        var latencies: [Double] = []
        while answered < sent || clock.monotonicNanoseconds < end {
            let now = clock.monotonicNanoseconds
            if now < end, sent - answered < window {
                var batch: [UInt8] = []
                while sent - answered < window {
                    batch += Self.line(client: client, number: sent)
                    sentAt.append(now)
                    sent += 1
                }
                try socket.writeAll(batch)
            }
            let bytes = try socket.read(limitBytes: 65_536)
            guard !bytes.isEmpty else { throw Failed(description: "the daemon closed the connection") }
            let after = clock.monotonicNanoseconds
            for byte in bytes where byte == UInt8(ascii: "\n") {
                latencies.append(Double(after - sentAt[answered]) / 1e3)
                answered += 1
            }
        }
        return (answered, latencies)
    }

    /// About 200 bytes, as a game would send.
    private static func line(client: Int, number: Int) -> [UInt8] {
        let player = (client * 7919 + number) % 1_000
        let text =
            "{\"jsonrpc\":\"2.0\",\"id\":\(number),\"method\":\"submit\",\"params\":{\"kind\":\"score\",\"game\":\"bench\","
            + "\"player\":\"player-\(player)\",\"leaderboard\":\"runs\",\"value\":\(number),"
            + "\"id\":\"\(getpid())-\(client)-\(number)\",\"metadata\":{\"seed\":\"\(number)\"}}}\n"
        return Array(text.utf8)
    }
}
