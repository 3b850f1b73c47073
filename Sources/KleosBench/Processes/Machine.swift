import Glibc
import KleosSupport

/// The machine that a run measured.
enum Machine {
    /// One sentence for people: processors, memory, kernel, and what answered the deliveries.
    static func description(endpoint: String) -> String {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let gibibytes = Double(sysconf(Int32(_SC_PHYS_PAGES))) * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_073_741_824
        let cpu = (try? SmallFile.readText(at: "/proc/cpuinfo")) ?? ""
        let model =
            cpu.split(separator: "\n").first { $0.hasPrefix("model name") }
            .flatMap { $0.split(separator: ":").last }.map { $0.drop { $0 == " " } } ?? "unknown processor"
        let kernel = (try? SmallFile.readText(at: "/proc/sys/kernel/osrelease"))?.split(separator: "\n").first ?? "?"
        return "\(processors) processors (\(model)), \(Decimal.text(gibibytes, places: 0)) GiB, Linux \(kernel); "
            + "endpoint: \(endpoint) on this machine"
    }
}
