import KleosSupport

/// How a service behaves for a while.
enum Mood: String, CaseIterable {
    case up
    /// Nobody listens.
    case refusing
    /// The name is not found.
    case unknown
    /// It takes connections and says nothing.
    case hanging
    /// It answers, often later than anybody waits.
    case slow
    /// A captive portal answers in its place.
    case portal
    /// It answers 200 with something else than the contract says.
    case garbled
    /// 5xx, now and then after taking effect.
    case broken
    /// It asks for rest, in all the forms that there are.
    case throttling
    /// It refuses the token.
    case denying
    /// It knows nothing of this address.
    case misplaced
    /// Certificates that do not hold.
    case unsafe
    /// It takes events, and its answers are lost.
    case losingAnswers
    /// A bit of everything.
    case flaky
}

/// What is going to happen to one request.
struct Fate {
    /// What the service says once the request is there.
    enum Reply {
        /// Acts on it and answers as the contract says.
        case honest
        /// Answers so; `acts` says whether it acts on the event all the same.
        case other(status: Int, body: String, retryAfter: String? = nil, acts: Bool = false)
        /// Acts on it, and the connection breaks before the answer is through.
        case lost(acts: Bool)
    }

    /// A failure before the request is out, by its name in `TransportFailure.Kind`; nil where it arrives.
    var failure: String?
    var arrivesAfterMilliseconds: Int64 = 1
    var reply: Reply = .honest
    var answersAfterMilliseconds: Int64 = 1
}

extension Mood {
    /// What happens to a request now.
    func fate(_ schedule: Schedule) -> Fate {
        var fate = Fate()
        fate.arrivesAfterMilliseconds = schedule.skewed(1...400)
        fate.answersAfterMilliseconds = schedule.skewed(1...1_500)
        switch self {
        case .up: break
        case .refusing: fate.failure = "refused"
        case .unknown: fate.failure = "dns"
        case .unsafe: fate.failure = "tls"
        case .hanging:
            fate.reply = .lost(acts: schedule.chance(oneIn: 4))
            fate.answersAfterMilliseconds = 3_600_000
        case .slow: fate.answersAfterMilliseconds = schedule.skewed(1...120_000)
        case .portal: fate.reply = .other(status: 200, body: "<html><body>Log in to the network</body></html>")
        case .garbled: fate.reply = garbled(schedule)
        case .broken: fate.reply = broken(schedule)
        case .throttling: fate.reply = throttled(schedule)
        case .denying:
            fate.reply = .other(status: 401, body: #"{"error":{"code":"unauthorized","message":"bad token"}}"#)
        case .misplaced:
            fate.reply = .other(status: schedule.one(of: [404, 405, 410, 400]), body: "not here")
        case .losingAnswers: fate.reply = .lost(acts: !schedule.chance(oneIn: 4))
        case .flaky:
            guard schedule.chance(oneIn: 2) else { break }
            return schedule.one(of: Mood.allCases.filter { $0 != .flaky && $0 != .denying }).fate(schedule)
        }
        return fate
    }

    private func garbled(_ schedule: Schedule) -> Fate.Reply {
        let bodies = [
            #"{"accepted":false}"#, #"{"accepted":"true"}"#, "{}", "", "[]", #"{"accepted":true"#, "ok", "null",
            #"{"accepted":true,"accepted":true}"#,
        ]
        let (status, body) = (schedule.one(of: [200, 200, 201, 202, 204, 206, 302]), schedule.one(of: bodies))
        // A service that says no, or points elsewhere, did nothing.
        let mayAct = status < 300 && !body.contains("false")
        return .other(status: status, body: body, acts: mayAct && schedule.chance(oneIn: 4))
    }

    private func broken(_ schedule: Schedule) -> Fate.Reply {
        let status = schedule.one(of: [500, 500, 502, 503, 504, 507])
        return .other(
            status: status, body: "trouble", acts: [500, 502, 504].contains(status) && schedule.chance(oneIn: 5))
    }

    private func throttled(_ schedule: Schedule) -> Fate.Reply {
        let wishes: [String?] = [
            nil, "0", "1", "30", "600", "7200", "99999999999999999999", "-5", "soon", "1.5",
            "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        return .other(status: schedule.one(of: [429, 503]), body: "later", retryAfter: schedule.one(of: wishes))
    }
}
