import KleosDelivery
import KleosModel
import KleosStore
import KleosSupport
import KleosTestSupport
import Testing

/// Plays faults, each at a server of its own, to a worker with a real store and the real transport, and holds what
/// users see against what has to become of it.
enum FaultBench {
    private final class Trial: Sendable {
        let fault: EndpointFault
        let resend: ResendEffect
        let server: RawServer
        let endpoint: Endpoint
        var fate: EndpointFault.Fate { fault.fate(resend) }

        init(_ fault: EndpointFault, _ resend: ResendEffect, number: Int, tls: TLSContext?, authority: String?) throws {
            self.fault = fault
            self.resend = resend
            let whole = RawServer.Reply.answer(.http("200 OK", body: accepted))
            server = try RawServer((fault.isConfirmedBefore ? [whole] : []) + [fault.reply, whole], tls: tls)
            endpoint = quick(server.url, name: "e\(number)-\(resend.rawValue)") {
                $0.resend = resend
                $0.timeoutMilliseconds = fault.timeoutMilliseconds
                $0.certificateAuthorityFile = authority
            }
        }
    }

    /// At once under way; each server has threads of its own.
    private static let trialsAtOnce = 24

    /// Plays `faults` at services of both kinds, and reports them as `kind`. `certificate` makes the servers secure.
    static func play(_ kind: String, _ faults: [EndpointFault], certificate: TestCertificate? = nil) throws {
        let tls = try certificate.map { try TLSContext($0) }
        var figures: [String: Int] = [:]
        var (wronglyConfirmed, sentAgain) = (0, 0)
        let numbered = faults.enumerated().flatMap { fault in [ResendEffect.keyed, .accumulates].map { (fault, $0) } }
        for start in stride(from: 0, to: numbered.count, by: trialsAtOnce) {
            let trials = try numbered[start..<min(start + trialsAtOnce, numbered.count)].map { fault, resend in
                try Trial(
                    fault.element, resend, number: fault.offset, tls: tls, authority: certificate?.authorityFile)
            }
            let delivery = try LiveDelivery(trials.map(\.endpoint))
            for trial in trials where trial.fault.isConfirmedBefore {
                try delivery.submit(1, player: "before", to: [trial.endpoint.name])
            }
            let before = trials.count { $0.fault.isConfirmedBefore }
            #expect(delivery.wait { $0.states.values.count { $0 == .delivered } == before })
            let keys = try trials.map { try delivery.submit(2, player: "ada", to: [$0.endpoint.name]) }
            for (trial, key) in zip(trials, keys) {
                figures[try check(trial, key, delivery), default: 0] += 1
                let attempts = try delivery.delivery(key)?.attempts ?? []
                if trial.fate != .delivered, attempts.first?.outcome == .delivered { wronglyConfirmed += 1 }
                if case .dead = trial.fate, attempts.count > 1 { sentAgain += 1 }
            }
            delivery.stop()
        }
        let list = figures.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        TestStage.report(
            "fault endpoint",
            "\(faults.count) \(kind) at services of both kinds: \(list); \(wronglyConfirmed) wrongly confirmed, "
                + "\(sentAgain) sent again where that may count twice")
    }

    /// Waits for the fate and checks it; returns what it was in one word.
    private static func check(_ trial: Trial, _ key: EventKey, _ delivery: LiveDelivery) throws -> String {
        let id = "\(key) \(trial.endpoint.name)"
        let comment: Comment = "\(trial.fault.name), \(trial.resend.rawValue)"
        let isOver = delivery.wait { seen in
            switch trial.fate {
            case .delivered, .repeated: seen.states[id] == .delivered || seen.states[id] == .dead
            case .dead: seen.states[id] == .dead || seen.states[id] == .delivered
            case .waits: seen.settled[id] == 1
            case .paused: seen.conditions.contains { $0.name == trial.endpoint.name && $0.kind == .paused }
            }
        }
        #expect(isOver, "\(comment): \(delivery.leftovers())")
        let shown = try #require(try delivery.delivery(key), comment)
        let first = try #require(shown.attempts.first, comment)
        let requests = trial.server.requests.dropFirst(trial.fault.isConfirmedBefore ? 1 : 0)
        #expect(Set(requests).count == 1, "the same bytes each time: \(comment)")
        if let words = trial.fault.words {
            let message = first.error ?? ""
            #expect(message.contains(words), comment)
            #expect(message.utf8.count < 1_000, comment)
        }
        switch trial.fate {
        case .delivered:
            #expect(shown.record.state == .delivered && shown.attempts.count == 1 && requests.count == 1, comment)
            return "delivered"
        case .repeated(let outcome):
            #expect(first.outcome == outcome, comment)
            #expect(shown.record.state == .delivered, comment)
            #expect(shown.attempts.count == 2 && requests.count == 2, comment)
            return "repeated"
        case .waits(let outcome, let range):
            #expect(first.outcome == outcome && requests.count == 1, comment)
            let due = try #require(shown.record.dueMilliseconds, comment)
            #expect(range.contains(due - first.startedMilliseconds - first.durationMilliseconds), comment)
            return "put off"
        case .dead(let reason):
            #expect(shown.record.state == .dead && shown.record.reason == reason, comment)
            #expect(shown.record.message?.contains(trial.fault.words ?? "") == true, comment)
            #expect(shown.attempts.count == 1 && requests.count == 1, comment)
            return "dead"
        case .paused:
            #expect(first.outcome == .credentials && requests.count == 1, comment)
            #expect(shown.record.state == .ready, comment)
            return "paused"
        }
    }
}
