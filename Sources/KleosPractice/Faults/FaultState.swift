import KleosSupport

/// The faults in force, and what is left of them. Pure but for the seed where none is given.
struct FaultState {
    /// What becomes of one request.
    struct Decision: Equatable {
        var step = Faults.Step.ok
        /// For `reset`: bytes of the answer that still go out.
        var resetAfterBytes = 0
        var delayMilliseconds = 0
        /// Value of Retry-After, where the answer has one; nil for none.
        var retryAfter: String?
        /// The fault's name in the list of requests; nil for none.
        var name: String?
    }

    /// The faults as they stand: scripts and counts get shorter as requests come.
    private(set) var faults = Faults()
    private var random = SeededGenerator.unpredictable()
    /// When a request first took the step that is at the front of the script and holds for a time.
    private var stepStartMilliseconds: Int64?

    /// Replaces the faults; a seed begins its sequence anew.
    mutating func set(_ new: Faults) {
        if new.script.first != faults.script.first { stepStartMilliseconds = nil }
        faults = new
        if let seed = new.seed { random = SeededGenerator(seed: seed) }
    }

    /// Takes the next decision, about a request that came at `now`.
    mutating func decide(nowMilliseconds now: Int64) -> Decision {
        guard faults != Faults() else { return Decision() }
        let scripted = faults.down == nil ? scriptedStep(now) : nil
        var decision = scripted.map { Decision(step: $0.step, name: "script") } ?? step()
        decision.resetAfterBytes = faults.resetAfterBytes ?? 40
        decision.retryAfter = scripted?.retryAfter ?? faults.retryAfter
        if let latency = scripted?.latencyMilliseconds ?? faults.latencyMilliseconds {
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
        if faults.notFound { return Decision(step: .status(404), name: "notFound") }
        if faults.unauthorized == .everybody { return Decision(step: .status(401), name: "unauthorized") }
        if faults.redirect != nil { return Decision(step: .redirect, name: "redirect") }
        if draw(faults.neverAnswer) { return Decision(step: .never, name: "neverAnswer") }
        if draw(faults.html) { return Decision(step: .html, name: "html") }
        if draw(faults.failureShare), let status = faults.failureStatuses.randomElement(using: &random) {
            return Decision(step: .status(status), name: "failureShare")
        }
        if draw(faults.dropAnswer) { return Decision(step: .drop, name: "dropAnswer") }
        return faults.resetAfterBytes == nil ? Decision() : Decision(step: .reset, name: "resetAfterBytes")
    }

    /// Takes one request's step off the script; nil where nothing is left of it.
    private mutating func scriptedStep(_ now: Int64) -> Faults.ScriptedStep? {
        if let limit = faults.script.first?.forMilliseconds, let start = stepStartMilliseconds, now - start >= limit {
            faults.script.removeFirst()
            stepStartMilliseconds = nil
        }
        guard let first = faults.script.first else { return nil }
        if first.forMilliseconds != nil {
            stepStartMilliseconds = stepStartMilliseconds ?? now
        } else if first.times > 1 {
            faults.script[0].times -= 1
        } else {
            faults.script.removeFirst()
        }
        return first
    }

    private mutating func draw(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }
}
