package import KleosModel
import KleosNotify
package import KleosWire

/// Deliveries as people read them. Pure.
package enum DeliveryWords {
    /// What an event is about: `beginner 12.345 s`, `first-win`, `collector 40 %`, `builder +3 steps`.
    package static func what(_ subject: SubjectFields) -> String {
        if let value = subject.display ?? subject.value { return "\(subject.item) \(value)" }
        if let progress = subject.progress { return progress == 100 ? subject.item : "\(subject.item) \(progress) %" }
        if let steps = subject.steps { return "\(subject.item) \(Counted.text(Int(steps), "step"))" }
        if let increment = subject.increment { return "\(subject.item) +\(Counted.text(Int(increment), "step"))" }
        return subject.item
    }

    /// How far a mark of a standing is; `display` is the score as the daemon says that people read it.
    package static func measure(_ measure: StandingMeasure, display: String?) -> String {
        switch measure {
        case .value(let value): display ?? value.description
        case .progress(let percent): percent == 100 ? "unlocked" : "\(percent) %"
        case .steps(let count): Counted.text(Int(count), "step")
        }
    }

    /// The colour of a state.
    package static func style(_ state: DeliveryState) -> Style? {
        switch state {
        case .delivered: .good
        case .sending, .ready: .working
        case .waiting: nil
        case .held: .warning
        case .dead: .bad
        case .superseded, .discarded: .quiet
        }
    }

    /// The end of a key, enough to name it on a command line: its beginning is the time, and much the same for all.
    package static func shortKey(_ key: EventKey) -> String { String(key.description.suffix(8)) }

    /// `12 deliveries: 10 waiting, 2 ready`, in the order of a delivery's life.
    package static func summary(_ counts: [DeliveryState: Int]) -> String {
        let total = counts.values.reduce(0, +)
        let parts = DeliveryState.allCases.compactMap { state -> String? in
            guard let count = counts[state], count > 0 else { return nil }
            return "\(count) \(state.rawValue)"
        }
        let head = Counted.text(total, "delivery", "deliveries")
        return parts.isEmpty ? head : "\(head): \(parts.joined(separator: ", "))"
    }
}
