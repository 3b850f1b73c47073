import KleosSupport

/// The faults in force, and what is left of them. Pure but for the seed where none is given.
struct FaultState {
    /// What becomes of one request.
    struct Decision: Equatable {
        var step = Faults.Step.ok
        /// For `reset`: bytes of the answer that still go out.
        var resetAfterBytes = 0
        var delayMilliseconds = 0
        /// The fault's name in the list of requests; nil for none.
        var name: String?
    }

    /// The faults as they stand: scripts and counts get shorter as requests come.
    private(set) var faults = Faults()
    private var random = SeededGenerator.unpredictable()

    /// Replaces the faults; a seed begins its sequence anew.
    mutating func set(_ new: Faults) {
        faults = new
        if let seed = new.seed { random = SeededGenerator(seed: seed) }
    }

    /// Takes the next decision.
    mutating func decide() -> Decision {
        guard faults != Faults() else { return Decision() }
        var decision = step()
        if let latency = faults.latencyMilliseconds {
            decision.delayMilliseconds = Int.random(in: latency, using: &random)
            decision.name = decision.name ?? "latency"
        }
        return decision
    }

    /// Takes one request off the count; after the last one the faults end.
    mutating func finishRequest() {
        guard let count = faults.count else { return }
        if count > 1 { faults.count = count - 1 } else { set(Faults()) }
    }

    private mutating func step() -> Decision {
        switch faults.down {
        case .refuse: return Decision(step: .close, name: "down")
        case .unavailable: return Decision(step: .status(503), name: "down")
        case nil: break
        }
        if !faults.script.isEmpty {
            let step = faults.script.removeFirst()
            return Decision(step: step, resetAfterBytes: faults.resetAfterBytes ?? 40, name: "script")
        }
        if faults.notFound { return Decision(step: .status(404), name: "notFound") }
        if faults.unauthorized == .everybody { return Decision(step: .status(401), name: "unauthorized") }
        if faults.redirect != nil { return Decision(step: .redirect, name: "redirect") }
        if draw(faults.neverAnswer) { return Decision(step: .never, name: "neverAnswer") }
        if draw(faults.html) { return Decision(step: .html, name: "html") }
        if draw(faults.failureShare), let status = faults.failureStatuses.randomElement(using: &random) {
            return Decision(step: .status(status), name: "failureShare")
        }
        if draw(faults.dropAnswer) { return Decision(step: .drop, name: "dropAnswer") }
        if let bytes = faults.resetAfterBytes {
            return Decision(step: .reset, resetAfterBytes: bytes, name: "resetAfterBytes")
        }
        return Decision()
    }

    private mutating func draw(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }
}
