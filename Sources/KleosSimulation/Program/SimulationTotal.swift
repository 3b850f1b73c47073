/// The sum of many simulated weeks.
struct SimulationTotal: Sendable {
    private(set) var seeds = 0
    /// Seeds that violated the promise.
    private(set) var failures: [UInt64] = []
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

    /// The figures, for people.
    func text(_ options: SimulateOptions) -> String {
        let faults = incidents.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let days = simulatedMilliseconds / 86_400_000
        var text = """
            == simulation: \(seeds) seeds from \(options.firstSeed), \(days) simulated days, \(acknowledged) events \
            acknowledged, \(requests) requests, \(starts) starts, \(cuts) power cuts, violations \(failures.count)
            == simulation, what happened: \(faults)

            """
        if !failures.isEmpty {
            text += "seeds that violate the promise: \(failures.sorted().map(String.init).joined(separator: " "))\n"
        }
        return text
    }
}
