/// The sum of many simulated weeks.
struct SimulationTotal: Sendable {
    private(set) var seeds = 0
    /// Seeds that violated the promise.
    private var failures: [UInt64] = []
    /// Seeds that could not be run.
    private var skipped: [UInt64] = []
    private var acknowledged = 0
    private var requests = 0
    private var starts = 0
    private var cuts = 0
    private var simulatedMilliseconds: Int64 = 0
    private var incidents: [String: Int] = [:]

    /// Adds a run.
    mutating func add(_ report: Simulation.Report) {
        seeds += 1
        if !report.violations.isEmpty { failures.append(report.seed) }
        acknowledged += report.acknowledged
        requests += report.requests
        starts += report.starts
        cuts += report.cuts
        simulatedMilliseconds += report.simulatedMilliseconds
        incidents.merge(report.incidents, uniquingKeysWith: +)
    }

    /// Notes a seed that could not be run.
    mutating func skip(_ seed: UInt64) { skipped.append(seed) }

    /// Whether something was run, and all of it kept the promise.
    var isGood: Bool { seeds > 0 && failures.isEmpty && skipped.isEmpty }

    /// The figures, for people.
    func text(_ options: SimulateOptions) -> String {
        let faults = incidents.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let days = simulatedMilliseconds / 86_400_000
        var text = """
            == simulation: \(seeds) seeds from \(options.firstSeed), \(days) simulated days, \(acknowledged) events \
            acknowledged, \(requests) requests, \(starts) starts, \(cuts) power cuts, violations \(failures.count)
            == simulation, what happened: \(faults)

            """
        text += Self.list("seeds that violate the promise", failures)
        text += Self.list("seeds that could not be run", skipped)
        return text
    }

    private static func list(_ name: String, _ seeds: [UInt64]) -> String {
        seeds.isEmpty ? "" : "\(name): \(seeds.sorted().map(String.init).joined(separator: " "))\n"
    }
}
