import Glibc
import KleosSupport

/// The least that durability costs: one append and one sync at a time.
enum SyncLoop {
    static func run(folder: String, seconds: Double) throws(SystemError) {
        let path = "\(folder)/kleos-bench.\(getpid())"
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC)
        defer { unlink(path) }
        let clock = SystemClock()
        let began = clock.monotonicNanoseconds
        let end = began + Int64(seconds * 1e9)
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 256)
        var latencies: [Double] = []
        var now = began
        while now < end {
            try file.writeAll(bytes)
            guard fdatasync(file.number) == 0 else { throw SystemError("sync \(path)") }
            let after = clock.monotonicNanoseconds
            latencies.append(Double(after - now) / 1e3)
            now = after
        }
        Bench.report("sync", count: latencies.count, seconds: Double(now - began) / 1e9, latencies: latencies)
    }
}
