import Glibc
import KleosSupport

/// The least that durability costs: one append and one sync at a time.
enum SyncLoop {
    /// Appends 256 bytes and syncs them, again and again, to a file in `folder`. Throws `SystemError`.
    static func run(folder: String, seconds: Double) throws(SystemError) -> LoadResult {
        let path = "\(folder)/append.\(getpid())"
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC)
        defer { unlink(path) }
        let clock = SystemClock()
        let ownBefore = ProcessUsage.ownMicroseconds
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
        return LoadResult(
            count: latencies.count, seconds: Double(now - began) / 1e9, latencies: latencies,
            ownMicroseconds: ProcessUsage.ownMicroseconds - ownBefore)
    }
}
