import KleosModel

/// What the clients did and heard, as they saw it.
final class TortureLedger: Sendable {
    /// An event that the daemon acknowledged.
    struct Acknowledged: Sendable {
        var key: String
        var event: Submission
    }

    /// Everything that is known.
    struct State: Sendable {
        /// Set: no more events are made.
        var isOver = false
        /// Events that may still be made.
        var permits = 0
        /// Counts the starts of the daemon.
        var starts = 0
        /// Requests to submit that were written, repetitions included.
        var sent = 0
        /// Acknowledgements, those of repetitions left out.
        var acknowledgements = 0
        /// Events that went out again because their answer was lost.
        var resends = 0
        /// Acknowledged events that were asked about again.
        var echoes = 0
        /// What was acknowledged, by the event's tag.
        var acknowledged: [String: Acknowledged] = [:]
        /// Events that clients spooled, by id.
        var spooled: [String: (tag: String, event: Submission)] = [:]
        /// The keys that a game program said were acknowledged, by its player.
        var gameKeys: [String: Set<String>] = [:]
        /// The players of game programs that were killed: more of theirs may have come than was acknowledged.
        var killedPlayers: Set<String> = []
        /// How often clients that show notices were killed.
        var claimerKills = 0
        /// Notices that somebody showed, with the moment of the daemon's word for it.
        var shown: [Int64: Int] = [:]
        /// Grows with each claim and each acknowledgement of notices.
        var moment = 0
        /// What must not have happened.
        var problems: [String] = []
    }

    let monitor = Monitor(State())

    /// A copy of everything.
    var state: State { monitor.read { $0 } }

    var isOver: Bool { monitor.read(\.isOver) }

    /// Takes the right to make one event; waits for it at most `milliseconds`. False where there is none.
    func takePermit(milliseconds: Int) -> Bool {
        if milliseconds > 0 { _ = monitor.wait(milliseconds: milliseconds) { $0.permits > 0 || $0.isOver } }
        return monitor.change { state in
            guard state.permits > 0, !state.isOver else { return false }
            state.permits -= 1
            return true
        }
    }

    /// Notes the answer to `event`, which may come for the second time.
    func acknowledge(_ event: Submission, tag: String, key: String, isDuplicate: Bool, wasSentBefore: Bool) {
        monitor.change { state in
            if let known = state.acknowledged[tag] {
                if known.key != key { state.problems.append("\(tag) was \(known.key), and is \(key) now") }
                if !isDuplicate { state.problems.append("\(tag) was acknowledged as \(key), and then forgotten") }
                return
            }
            if isDuplicate, !wasSentBefore { state.problems.append("\(tag) is called a duplicate, but it is new") }
            state.acknowledged[tag] = Acknowledged(key: key, event: event)
            state.acknowledgements += 1
        }
    }

    /// Notes what must not have happened.
    func problem(_ text: String) {
        monitor.change { $0.problems.append(text) }
    }
}
