import Glibc
package import KleosSupport

/// What a process has used so far, as /proc says.
package struct ProcessUsage: Sendable, Equatable {
    /// Processor time of all its threads, in microseconds; the kernel counts in ticks of ten thousand.
    package var cpuMicroseconds: Double
    /// What it made dirty of files, in bytes: a page that is synced and written again counts again.
    package var writtenBytes: Double

    /// Makes a value from its parts.
    package init(cpuMicroseconds: Double, writtenBytes: Double) {
        self.cpuMicroseconds = cpuMicroseconds
        self.writtenBytes = writtenBytes
    }

    /// Reads what process `pid` has used. Throws `SystemError`.
    package static func read(_ pid: Int32) throws(SystemError) -> ProcessUsage {
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let statistics = try SmallFile.readText(at: "/proc/\(pid)/stat")
        let written = try SmallFile.readText(at: "/proc/\(pid)/io")
        return ProcessUsage(
            cpuMicroseconds: Double(Self.ticks(inStat: statistics) ?? 0) * 1e6 / ticks,
            writtenBytes: Double(Self.value("write_bytes:", in: written) ?? 0))
    }

    /// Processor time of this process, in microseconds.
    package static var ownMicroseconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    /// The anonymous memory of process `pid`, in MiB; nil where it is gone.
    package static func anonymousMebibytes(_ pid: Int32) -> Double? {
        guard let text = try? SmallFile.readText(at: "/proc/\(pid)/status") else { return nil }
        return value("RssAnon:", in: text).map { Double($0) / 1_024 }
    }

    /// User and system time in a /proc/PID/stat; the program's name in it may hold anything, brackets included.
    package static func ticks(inStat text: String) -> Int? {
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return nil }
        return user + system
    }

    /// The number after `name` at the start of a line; nil where there is none.
    package static func value(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return line.dropFirst(name.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        }
        return nil
    }

    /// What was used between `earlier` and this reading.
    package func since(_ earlier: ProcessUsage) -> ProcessUsage {
        ProcessUsage(
            cpuMicroseconds: cpuMicroseconds - earlier.cpuMicroseconds,
            writtenBytes: writtenBytes - earlier.writtenBytes)
    }
}
