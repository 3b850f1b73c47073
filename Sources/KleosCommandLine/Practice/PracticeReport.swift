import KleosClient
import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosWire

/// What happened in a practice run, as rows of JSON.
struct PracticeReport {
    /// What expectations are compared with.
    let rows: [PracticeExpectations.Section: [JSONValue]]
    /// The requests that the endpoint got, oldest first.
    private let requests: [JSONValue]
    private let counts: [DeliveryState: Int]

    /// Asks the daemon and the endpoint. Throws `ConnectionError`.
    init(_ connection: KleosConnection, _ endpoint: PracticeServer) throws(ConnectionError) {
        var rows: [PracticeExpectations.Section: [JSONValue]] = [:]
        rows[.deliveries] = try Self.deliveries(connection)
        rows[.notices] = try Self.notices(connection)
        rows[.boards] = endpoint.boards.flatMap { board in
            board.entries.map { entry in
                [
                    "game": .string(board.game), "leaderboard": .string(board.leaderboard),
                    "player": .string(entry.player), "value": .string(entry.value.description),
                    "rank": .integer(entry.rank),
                ]
            }
        }
        rows[.achievements] = endpoint.achievements.map { standing in
            [
                "game": .string(standing.game), "achievement": .string(standing.achievement),
                "player": .string(standing.player), "progress": .integer(standing.progress),
                "steps": .integer(standing.steps), "unlocked": .bool(standing.isUnlocked),
            ]
        }
        self.rows = rows
        requests = endpoint.requests.map(\.json)
        counts = StatusAnswer(json: try connection.request(.status)).counts
    }

    private static func deliveries(_ connection: KleosConnection) throws(ConnectionError) -> [JSONValue] {
        var rows: [JSONValue] = []
        var parameters = ListParameters(limit: ListParameters.maximumLimit)
        repeat {
            let answer = try connection.request(.list, parameters.parameters)
            rows += answer["deliveries"]?.arrayValue ?? []
            parameters.cursor = answer["cursor"]?.stringValue
        } while parameters.cursor != nil
        return rows.reversed()
    }

    private static func notices(_ connection: KleosConnection) throws(ConnectionError) -> [JSONValue] {
        var rows: [JSONValue] = []
        var parameters = NoticesParameters(limit: 500)
        while true {
            let answer = try connection.request(.notices, parameters.parameters)
            let page = answer["notices"]?.arrayValue ?? []
            rows += page
            guard let last = page.compactMap({ $0["number"]?.int64Value }).max(), page.count == 500 else { return rows }
            parameters.after = last
        }
    }

    /// The report's lines: one for each request, delivery, notice, entry and achievement.
    var lines: [JSONValue] {
        var lines = requests.map { Self.line("request", $0) }
        lines += (rows[.deliveries] ?? []).map { Self.line("delivery", $0) }
        lines += (rows[.notices] ?? []).map { Self.line("notice", $0) }
        lines += (rows[.boards] ?? []).map { Self.line("board", $0) }
        return lines + (rows[.achievements] ?? []).map { Self.line("achievement", $0) }
    }

    /// The last lines: one for each difference, then the end.
    static func closing(
        _ differences: [PracticeExpectations.Difference], _ ending: ProcessEnding, code: Int32,
        of report: PracticeReport
    ) -> [JSONValue] {
        var lines = differences.map { difference in
            var object = JSONObject()
            object["message"] = .string(difference.message)
            object["expected"] = difference.expected
            object["found"] = difference.found
            return line("difference", .object(object))
        }
        var end = JSONObject()
        switch ending {
        case .exited(let code): end["command"] = ["exited": .integer(code)]
        case .killed(let signal): end["command"] = ["killed": .integer(signal)]
        }
        var counts = JSONObject()
        for state in DeliveryState.allCases { counts[state.rawValue] = .integer(report.counts[state] ?? 0) }
        end["deliveries"] = .object(counts)
        end["requests"] = .integer(report.requests.count)
        end["differences"] = .integer(differences.count)
        end["exitCode"] = .integer(code)
        lines.append(line("end", .object(end)))
        return lines
    }

    private static func line(_ record: String, _ row: JSONValue) -> JSONValue {
        var object = JSONObject()
        object["record"] = .string(record)
        for member in row.objectValue?.members ?? [] { object[member.name] = member.value }
        return .object(object)
    }
}
