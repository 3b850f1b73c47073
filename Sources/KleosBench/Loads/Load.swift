import Glibc
package import KleosSupport

/// Clients that ask as fast as a server answers, all driven by one thread: what they cost is small beside what they
/// measure, and the same for every server.
package struct Load {
    /// How many clients, and how many requests each leaves unanswered.
    package let shape: Shape
    /// No request is made after so long.
    package let seconds: Double
    /// No request is made after so many; a few more than that may be answered.
    package let limit: Int

    private static let patienceNanoseconds: Int64 = 60_000_000_000

    /// Makes a load.
    package init(_ shape: Shape, seconds: Double, limit: Int = .max) {
        self.shape = shape
        self.seconds = seconds
        self.limit = limit
    }

    /// Runs it with connections that `connect` makes. Throws `BenchFailure` or `SystemError`, a refused request
    /// included.
    package func run<Language: LoadLanguage>(
        _ language: inout Language, connect: () throws -> FileDescriptor
    ) throws -> LoadResult {
        var connections: [LoadConnection] = []
        for _ in 0..<shape.clients { connections.append(try LoadConnection(connect(), window: shape.window)) }
        let clock = SystemClock()
        let ownBefore = ProcessUsage.ownMicroseconds
        let began = clock.monotonicNanoseconds
        let end = began + Int64(seconds * 1e9)
        var latencies: [Double] = []
        for index in connections.indices { try connections[index].fill(&language, now: began) }
        var entries = connections.map { pollfd(fd: $0.descriptor.number, events: 0, revents: 0) }
        var now = began
        var lastAnswer = began
        while connections.contains(where: { $0.unanswered > 0 }) {
            for index in entries.indices { entries[index].events = connections[index].events }
            _ = Retry.onInterrupt { poll(&entries, nfds_t(entries.count), 1_000) }
            now = clock.monotonicNanoseconds
            guard now - lastAnswer < Self.patienceNanoseconds else {
                throw BenchFailure("the server answered nothing for \(Self.patienceNanoseconds / 1_000_000_000) s")
            }
            for index in entries.indices where entries[index].revents != 0 {
                if entries[index].revents & Int16(POLLOUT) != 0 { try connections[index].write() }
                guard entries[index].revents & ~Int16(POLLOUT) != 0 else { continue }
                try connections[index].read(language, clock, into: &latencies)
                now = clock.monotonicNanoseconds
                lastAnswer = now
                if now < end, latencies.count < limit { try connections[index].fill(&language, now: now) }
            }
        }
        return LoadResult(
            count: latencies.count, seconds: Double(now - began) / 1e9, latencies: latencies,
            ownMicroseconds: ProcessUsage.ownMicroseconds - ownBefore)
    }
}
