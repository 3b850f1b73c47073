import Dispatch
import Glibc
import KleosSupport
import KleosTestSupport
import Synchronization

/// The program `kleos-simulate`: many simulated weeks, or one of them told in full.
package enum SimulateProgram {
    /// Runs the program and returns its exit code: 0 where nothing was violated, 1 where something was, 64 for wrong
    /// arguments.
    package static func run(_ arguments: [String]) -> Int32 {
        do throws(SimulateOptions.Mistake) {
            let options = try SimulateOptions(arguments)
            if options.isHelpWanted {
                StandardStream.output.write(SimulateOptions.help)
                return 0
            }
            makeRepeatable()
            return try run(options) ? 0 : 1
        } catch {
            StandardStream.errors.write("kleos-simulate: \(error.message)\n")
            return 64
        }
    }

    /// Dictionaries have another order in each process unless this is set before the process begins.
    private static func makeRepeatable() {
        guard Environment["SWIFT_DETERMINISTIC_HASHING"] == nil else { return }
        setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
        var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        execv("/proc/self/exe", &arguments)
        // A process that cannot be replaced goes on, and its seeds do not repeat exactly.
        StandardStream.errors.write("kleos-simulate: this run cannot be repeated exactly\n")
    }

    private static func run(_ options: SimulateOptions) throws(SimulateOptions.Mistake) -> Bool {
        if options.isTraced {
            return try traced(seed: options.firstSeed)
        }
        let crew = Crew(options)
        DispatchQueue.concurrentPerform(iterations: options.jobs) { _ in crew.work() }
        crew.total.withLock { total in StandardStream.output.write(total.text(options)) }
        return crew.total.withLock(\.isGood)
    }

    private static func traced(seed: UInt64) throws(SimulateOptions.Mistake) -> Bool {
        let disk = SimulatedDisk(seed: seed)
        do {
            let simulation = try Simulation(seed: seed, disk: disk) { StandardStream.output.write("\($0)\n") }
            let report = simulation.run()
            StandardStream.output.write("digest \(report.digest)\n")
            for violation in report.violations { StandardStream.output.write("violated: \(violation)\n") }
            return report.violations.isEmpty
        } catch {
            throw SimulateOptions.Mistake("the simulation has no folder: \(error)")
        }
    }
}

/// Threads that take seed after seed.
private final class Crew: Sendable {
    let options: SimulateOptions
    let total = Mutex(SimulationTotal())
    private let next = Atomic<UInt64>(0)
    private let began = SystemClock().monotonicNanoseconds

    init(_ options: SimulateOptions) {
        self.options = options
    }

    func work() {
        let disk = SimulatedDisk(seed: 0)
        while let seed = nextSeed() {
            do {
                let report = try Simulation(seed: seed, disk: disk).run()
                total.withLock { $0.add(report) }
                tell(report)
            } catch {
                StandardStream.errors.write("kleos-simulate: seed \(seed) has no folder: \(error)\n")
                return total.withLock { $0.skip(seed) }
            }
        }
    }

    private func nextSeed() -> UInt64? {
        let number = next.add(1, ordering: .relaxed).oldValue
        if let hours = options.hours {
            let elapsed = SystemClock().monotonicNanoseconds - began
            if elapsed > Int64(hours * 3_600_000_000_000) { return nil }
        } else if number >= options.count {
            return nil
        }
        return options.firstSeed &+ number
    }

    private func tell(_ report: Simulation.Report) {
        guard !report.violations.isEmpty else { return }
        var text = "seed \(report.seed) violates the promise:\n"
        for violation in report.violations.prefix(5) { text += "  \(violation)\n" }
        text += "  replay it with: script/simulate --seed \(report.seed)\n"
        StandardStream.output.write(text)
    }
}
