import Glibc
import KleosSupport

/// Measures what `script/bench` asks for; prints one line of `name=value` pairs for each run.
enum Bench {
    static let help = """
        kleos-bench - measurements for script/bench

        Usage: kleos-bench sync FOLDER SECONDS
               kleos-bench enqueue SOCKET CLIENTS WINDOW SECONDS
               kleos-bench post URL CONNECTIONS SECONDS

          sync     appends 256 bytes and syncs, again and again: what the disk alone can do
          enqueue  CLIENTS connections to the daemon, each with WINDOW unanswered submissions
          post     bare libcurl: CONNECTIONS requests at a time, as a delivery would send them

        """

    static func run(_ arguments: [String]) -> Int32 {
        do {
            switch arguments.first {
            case "sync" where arguments.count == 3:
                try SyncLoop.run(folder: arguments[1], seconds: number(arguments[2]))
            case "enqueue" where arguments.count == 5:
                try EnqueueLoad(
                    path: arguments[1], clients: Int(number(arguments[2])), window: Int(number(arguments[3])),
                    seconds: number(arguments[4])
                ).run()
            case "post" where arguments.count == 4:
                try PostLoop.run(
                    url: arguments[1], connections: Int(number(arguments[2])), seconds: number(arguments[3]))
            default:
                StandardStream.output.write(help)
                return arguments.first == "--help" ? 0 : EX_USAGE
            }
            return 0
        } catch {
            StandardStream.errors.write("kleos-bench: \(error)\n")
            return EX_SOFTWARE
        }
    }

    private struct NotANumber: Error, CustomStringConvertible {
        let text: String
        var description: String { "\(text) is not a positive number" }
    }

    private static func number(_ text: String) throws(NotANumber) -> Double {
        guard let number = Double(text), number > 0, number < 1e6 else { throw NotANumber(text: text) }
        return number
    }

    /// Prints a result; latencies in microseconds.
    static func report(_ name: String, count: Int, seconds: Double, latencies: [Double]) {
        let sorted = latencies.sorted()
        func percentile(_ share: Double) -> Int {
            sorted.isEmpty ? 0 : Int(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
        }
        let rate = Int(Double(count) / seconds)
        StandardStream.output.write(
            "name=\(name) count=\(count) per_second=\(rate) p50_us=\(percentile(0.5)) p99_us=\(percentile(0.99))\n")
    }
}
