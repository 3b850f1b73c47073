import KleosClient
import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import KleosWire

@testable import KleosStore

/// Compares what clients were promised with what the endpoints, the daemon and the notices say in the end.
struct TortureVerdict {
    /// What took effect at one endpoint, by key, as its journal says.
    struct Effects {
        var bodies: [String: JSONValue] = [:]
        var problems: [String] = []

        /// Reads the journal of `service`. Throws `SystemError` or `JSONError`.
        init(_ service: TortureWorld.Service) throws {
            let text = try SmallFile.readText(at: service.practice.journalPath, limitBytes: 1 << 28)
            for line in text.split(separator: "\n") {
                guard let body = try JSONParser.parse(Array(line.utf8))["body"], let key = body["key"]?.stringValue
                else { continue }
                if bodies[key] != nil { problems.append("\(service.name): key \(key) took effect twice") }
                bodies[key] = body
            }
        }
    }

    /// A delivery as the daemon lists it.
    struct Listed {
        var key: String
        var endpoint: String
        var state: String
        var reason: String?
        var supersededBy: String?
        var player: String
    }

    let world: TortureWorld
    let state: TortureLedger.State
    private(set) var effects: [String: Effects] = [:]
    private(set) var listed: [Listed] = []
    private(set) var noticeCount = 0
    private(set) var problems: [String] = []

    /// Why a delivery may be dead.
    private let deadReasons: Set<String>

    /// Looks at a drained world. Throws where something cannot be looked at.
    init(_ world: TortureWorld, deadReasons: Set<String> = []) throws {
        self.world = world
        self.deadReasons = deadReasons
        state = world.ledger.state
        problems = state.problems
        for service in world.services {
            let effects = try Effects(service)
            self.effects[service.name] = effects
            let traffic = service.relay.traffic
            problems += effects.problems + traffic.problems.map { "\(service.name): \($0)" }
            // 409 says that the first request with the key is still at work; anything else would be a refusal.
            for (key, statuses) in traffic.statuses {
                let refusals = statuses.filter { (400..<500).contains($0) && $0 != 409 }
                if !refusals.isEmpty { problems.append("\(service.name): \(key) was refused: \(refusals)") }
            }
        }
        listed = try world.rows("list", "--all").map { row in
            Listed(
                key: row["key"]?.stringValue ?? "", endpoint: row["endpoint"]?.stringValue ?? "",
                state: row["state"]?.stringValue ?? "", reason: row["reason"]?.stringValue,
                supersededBy: row["supersededBy"]?.stringValue, player: row["player"]?.stringValue ?? "")
        }
    }

    /// How many keys took effect, over all endpoints.
    var effectCount: Int { effects.values.reduce(0) { $0 + $1.bodies.count } }

    private func services(of game: String) -> ArraySlice<TortureWorld.Service> {
        world.services.prefix(game == TortureGame.id ? world.services.count : 1)
    }

    // MARK: - Events

    /// Every acknowledged event is listed once for each of its endpoints, delivered or superseded by one that was; what
    /// was delivered took effect with the payload that was sent.
    mutating func checkEvents() throws {
        var states: [String: Listed] = [:]
        for row in listed {
            let place = "\(row.endpoint) \(row.key)"
            if states[place] != nil { problems.append("\(place) is listed twice") }
            states[place] = row
        }
        for (tag, event) in state.acknowledged {
            for service in services(of: event.event.game) {
                problems += outcome(of: event.key, at: service.name, states).map { "\(tag), \(event.key): \($0)" }
            }
        }
        for service in world.services {
            let traffic = service.relay.traffic
            for (key, body) in effects[service.name]?.bodies ?? [:] {
                let sent = try traffic.bodies[key].map { try JSONParser.parse($0) }
                if sent != body { problems.append("\(service.name): \(key) took effect as \(body.serialized)") }
                // One whose answer was lost may be superseded before it is sent again.
                let state = states["\(service.name) \(key)"]?.state ?? "not listed"
                if !["delivered", "superseded"].contains(state), state != "dead" || deadReasons.isEmpty {
                    problems.append("\(service.name): \(key) took effect and is \(state)")
                }
                problems += checkTag(of: body, key).map { "\(service.name): \($0)" }
            }
        }
    }

    private func outcome(of key: String, at service: String, _ states: [String: Listed]) -> [String] {
        guard let row = states["\(service) \(key)"] else { return ["lost: it is not listed for \(service)"] }
        switch row.state {
        case "delivered":
            return effects[service]?.bodies[key] == nil ? ["lost: delivered to \(service), and not there"] : []
        case "superseded":
            if let better = row.supersededBy, better != key {
                return outcome(of: better, at: service, states).map { "superseded by \(better): \($0)" }
            }
            let isLate = row.reason == DeliveryReason.standing.rawValue && wasOvertaken(key, at: service, states)
            return isLate ? [] : ["superseded at \(service) by nothing"]
        case "dead" where deadReasons.contains(row.reason ?? ""): return []
        default: return ["it is \(row.state) at \(service), \(row.reason ?? "without a reason")"]
        }
    }

    /// Whether the event came out of the spool when a later one of its player was there already, on the board that keeps
    /// the latest.
    private func wasOvertaken(_ key: String, at service: String, _ states: [String: Listed]) -> Bool {
        let latest = state.acknowledged.filter { $0.value.event.leaderboard == "latest" }
        guard let own = latest.first(where: { $0.value.key == key }), let number = Self.number(of: own.key) else {
            return false
        }
        return latest.contains { tag, other in
            other.event.player == own.value.event.player && Self.number(of: tag) ?? 0 > number
                && states["\(service) \(other.key)"]?.state == "delivered"
        }
    }

    /// The place of an event among those of its client, which is the only one of its player.
    private static func number(of tag: String) -> Int? {
        tag.split(separator: "-").last.flatMap { Int($0) }
    }

    /// The tag that a client put into an event leads to one key only.
    private func checkTag(of body: JSONValue, _ key: String) -> [String] {
        guard let tag = body["metadata"]?["tag"]?.stringValue else { return [] }
        guard let known = state.acknowledged[tag] else { return ["\(key) is \(tag), which nobody submitted"] }
        return known.key == key ? [] : ["\(tag) took effect as \(key) and is \(known.key)"]
    }

    /// Nothing was sent again but what the endpoint had answered with 503, and what an operator retried, once.
    mutating func checkSends(retried: Set<String> = []) {
        for service in world.services {
            let traffic = service.relay.traffic
            for (key, requests) in traffic.requests {
                let refused = (traffic.statuses[key] ?? []).count { $0 == 503 }
                if requests > refused + (retried.contains(key) ? 2 : 1) {
                    problems.append("\(service.name): \(key) was sent \(requests) times, and refused \(refused) times")
                }
            }
        }
    }

    // MARK: - Boards

    /// The boards and achievements hold what follows from the acknowledged events, no more and no less.
    mutating func checkBoards() {
        for service in world.services {
            var board: [String: [String: [Int64]]] = [:]
            for body in (effects[service.name]?.bodies ?? [:]).values {
                guard let subject = Self.subject(body) else { continue }
                board[subject.name, default: [:]][subject.player, default: []].append(subject.amount)
            }
            var expected: [String: [String: [Int64]]] = [:]
            for event in state.acknowledged.values
            where services(of: event.event.game).contains(where: { $0.name == service.name }) {
                guard let subject = Self.subject(event.event) else { continue }
                expected[subject.name, default: [:]][subject.player, default: []].append(subject.amount)
            }
            for (name, players) in expected {
                for (player, amounts) in players where !state.killedPlayers.contains(player) {
                    let got = board[name]?[player] ?? []
                    problems += Self.compare(name, expected: amounts, got: got).map {
                        "\(service.name): \(player): \($0)"
                    }
                }
            }
        }
    }

    private static func compare(_ name: String, expected: [Int64], got: [Int64]) -> [String] {
        let item = name.split(separator: "/").last.map(String.init) ?? name
        if TortureGame.cumulativeItems.contains(item) {
            return expected.sorted() == got.sorted()
                ? [] : ["\(name) got \(got.sorted()) in place of \(expected.sorted())"]
        }
        if item == "latest" { return [] }
        let isLowerBetter = TortureGame.bestBoards[item] ?? false
        let (wanted, best) = isLowerBetter ? (expected.min(), got.min()) : (expected.max(), got.max())
        return wanted == best ? [] : ["\(name) holds \(best ?? -1) in place of \(wanted ?? -1)"]
    }

    /// On a board of the latest, the last that the one client of the player submitted.
    mutating func checkLatest() throws {
        var last: [String: (number: Int, value: String)] = [:]
        for (tag, event) in state.acknowledged where event.event.leaderboard == "latest" {
            guard let player = event.event.player, let value = event.event.value,
                let number = Self.number(of: tag)
            else { continue }
            if number > last[player]?.number ?? 0 { last[player] = (number, value) }
        }
        for service in world.services {
            let board = try PracticeClient(url: service.practice.url).get("/boards/\(TortureGame.id)/latest").json
            for (player, entry) in last {
                let row = board?["entries"]?.arrayValue?.first { $0["player"]?.stringValue == player }
                let value = row?["value"]?.stringValue ?? "absent"
                if value != entry.value {
                    problems.append("\(service.name): latest of \(player) is \(value), not \(entry.value)")
                }
            }
        }
    }

    private static func subject(_ event: Submission) -> (name: String, player: String, amount: Int64)? {
        let amount = event.value.flatMap { Int64($0) } ?? event.steps ?? event.increment ?? event.progress
        guard let amount, let item = event.leaderboard ?? event.achievement, let player = event.player else {
            return nil
        }
        return ("\(event.game)/\(item)", player, amount)
    }

    private static func subject(_ body: JSONValue) -> (name: String, player: String, amount: Int64)? {
        let number = body["steps"] ?? body["increment"] ?? body["progress"]
        let amount = body["value"]?.stringValue.flatMap { Int64($0) } ?? number?.int64Value
        guard let amount, let game = body["game"]?.stringValue, let player = body["player"]?.stringValue,
            let item = (body["leaderboard"] ?? body["achievement"])?.stringValue
        else { return nil }
        return ("\(game)/\(item)", player, amount)
    }

    // MARK: - Notices

    /// Whatever changed a board or unlocked an achievement is told once, and nothing before it was confirmed.
    mutating func checkNotices() throws {
        let notices = try allNotices()
        noticeCount = notices.count
        var told: Set<String> = []
        for notice in notices {
            let key = notice.key.description
            if !told.insert(key).inserted { problems.append("\(key) made two notices") }
            if notice.shownAtMilliseconds == nil { problems.append("notice \(notice.number) was never shown") }
            if !services(of: notice.game).allSatisfy({ $0.relay.hasConfirmed(key) }) {
                problems.append("notice \(notice.number) of \(key) is of nothing confirmed")
            }
        }
        for number in state.shown.keys where !notices.contains(where: { $0.number == number }) {
            problems.append("notice \(number) was shown, and is gone")
        }
        problems += untold(notices, told)
    }

    /// What was delivered and news, and what stands on boards and among achievements, without a notice.
    private func untold(_ notices: [NoticeRow], _ told: Set<String>) -> [String] {
        var problems: [String] = []
        let confirmations = world.services.map(\.relay.traffic.confirmations)
        let undelivered = Set(listed.lazy.filter { $0.state != "delivered" }.map(\.key))
        let values = Set(notices.map { "\($0.game)/\($0.item) \($0.player) \($0.value ?? "")" })
        var bests: [String: Int64] = [:]
        for (key, body) in effects[world.services[0].name]?.bodies ?? [:] {
            guard let subject = Self.subject(body) else { continue }
            let own = confirmations.prefix(services(of: body["game"]?.stringValue ?? "").count)
            // The endpoint that confirms last decides; a change at all of them has to be told.
            if !told.contains(key), !undelivered.contains(key), own.allSatisfy({ Self.isNews($0[key]) }) {
                problems.append("no notice of \(key), \(body.serialized)")
            }
            let place = "\(subject.name) \(subject.player)"
            if own.allSatisfy({ $0[key]?["unlocked"]?.boolValue == true }), !values.contains("\(place) ") {
                problems.append("no notice that \(place) was unlocked")
            }
            guard let isLowerBetter = TortureGame.bestBoards[body["leaderboard"]?.stringValue ?? ""] else { continue }
            let best = bests[place] ?? subject.amount
            bests[place] = isLowerBetter ? min(best, subject.amount) : max(best, subject.amount)
        }
        for (place, best) in bests where !values.contains("\(place) \(best)") {
            problems.append("no notice of the best of \(place), \(best)")
        }
        return problems
    }

    private static func isNews(_ confirmation: JSONValue?) -> Bool {
        guard let confirmation else { return false }
        if confirmation["improved"]?.boolValue == true { return true }
        return confirmation["new"]?.boolValue == true && confirmation["unlocked"]?.boolValue == true
    }

    private func allNotices() throws -> [NoticeRow] {
        let connection = try KleosConnection(path: world.scenario.socketPath)
        var notices: [NoticeRow] = []
        while true {
            let parameters = NoticesParameters(after: notices.last?.number, limit: 500)
            let page = NoticesAnswer(json: try connection.request(.notices, parameters.parameters)).notices
            if page.isEmpty { return notices }
            notices += page
        }
    }

    // MARK: - The daemon

    /// Nothing is dead, and the log has no error.
    mutating func checkDaemon() throws {
        for line in try world.scenario.log.split(separator: "\n") where line.hasPrefix("kleos: error:") {
            problems.append("the daemon logged: \(line)")
        }
        if world.scenario.stop() != .exited(0) { problems.append("the daemon did not stop as it should") }
        let connection = try Connection(path: world.scenario.folder.path("outbox.db"))
        let rows = try connection.rows(.once("PRAGMA integrity_check")) { $0.text(0) }
        if rows != ["ok"] { problems.append("the database is damaged: \(rows)") }
    }

    /// What is needed to look into it: the problems, and the end of the log.
    func evidence(seed: UInt64) throws -> String {
        let lines = try world.scenario.log.split(separator: "\n").filter { !$0.hasPrefix("kleos: info: delivered") }
        let log = lines.suffix(60).joined(separator: "\n")
        let shown = problems.prefix(30).joined(separator: "\n")
        return "seed \(seed), \(problems.count) problems:\n\(shown)\nThe end of the daemon's log:\n\(log)"
    }
}
