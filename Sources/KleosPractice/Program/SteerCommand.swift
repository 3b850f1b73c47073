import Glibc
import KleosJSON

/// The subcommands that talk to a running practice endpoint.
enum SteerCommand {
    /// Runs `verb`. Throws `UsageError`, `PracticeClient.Failure`.
    static func run(_ verb: String, _ arguments: [String]) throws -> Int32 {
        guard ["faults", "boards", "achievements", "requests", "counts"].contains(verb) else {
            throw UsageError(message: "there is no command \(verb)")
        }
        guard let url = arguments.first, !url.hasPrefix("-") else {
            throw UsageError(message: "\(verb) needs the URL of a practice endpoint, like http://127.0.0.1:8484")
        }
        let client = try PracticeClient(url: url)
        var rest = arguments.dropFirst()
        if verb == "faults" { return try faults(client, &rest) }
        if let extra = rest.first { throw UsageError(message: "\(verb) takes no \(extra)") }
        let answer = try client.get("/\(verb)")
        guard answer.status == 200, let page = answer.json else { return try refused(answer) }
        switch verb {
        case "boards": printBoards(page)
        case "achievements": printAchievements(page)
        case "requests": printRequests(page)
        default: print(page.serialized)
        }
        return EX_OK
    }

    private static func faults(_ client: PracticeClient, _ rest: inout ArraySlice<String>) throws -> Int32 {
        var flags = FaultFlags()
        while let argument = rest.first {
            guard try flags.take(&rest) else { throw UsageError(message: "there is no fault \(argument)") }
        }
        var answer: PracticeClient.Answer
        if flags.clears {
            answer = try client.send("DELETE", "/faults")
        } else {
            answer = try client.get("/faults")
        }
        if answer.status == 200, !flags.members.isEmpty {
            answer = try client.post("/faults", .object(flags.members))
        }
        guard answer.status == 200, let faults = answer.json?.objectValue else { return try refused(answer) }
        print(faults.isEmpty ? "no faults" : "faults: \(JSONValue.object(faults).serialized)")
        return EX_OK
    }

    private static func refused(_ answer: PracticeClient.Answer) throws -> Int32 {
        let message = answer.json?["error"]?["message"]?.stringValue ?? "this is no practice endpoint"
        throw UsageError(message: "the endpoint answered \(answer.status): \(message)")
    }

    private static func printBoards(_ page: JSONValue) {
        let boards = page["boards"]?.arrayValue ?? []
        if boards.isEmpty { print("no scores yet") }
        for (index, board) in boards.enumerated() {
            if index > 0 { print("") }
            let rule = board["order"]?.stringValue == "ascending" ? "lowest first" : "highest first"
            let count = board["accepted"]?.int64Value ?? 0
            print(
                "\(text(board["game"])) / \(text(board["leaderboard"])): \(rule), keeps \(text(board["keep"])), "
                    + "\(count) \(count == 1 ? "score" : "scores")")
            Table(
                titles: ["RANK", "PLAYER", "VALUE"], rightAligned: [0, 2],
                rows: (board["entries"]?.arrayValue ?? []).map {
                    [text($0["rank"]), text($0["player"]), text($0["value"])]
                }
            ).print()
        }
    }

    private static func printAchievements(_ page: JSONValue) {
        let all = page["achievements"]?.arrayValue ?? []
        guard !all.isEmpty else { return print("no achievements yet") }
        Table(
            titles: ["GAME", "PLAYER", "ACHIEVEMENT", "PROGRESS", "UNLOCKED"], rightAligned: [3],
            rows: all.map {
                [
                    text($0["game"]), text($0["player"]), text($0["achievement"]), "\(text($0["progress"])) %",
                    $0["unlockedAt"]?.stringValue ?? ($0["unlocked"]?.boolValue == true ? "yes" : "-"),
                ]
            }
        ).print()
    }

    private static func printRequests(_ page: JSONValue) {
        let all = page["requests"]?.arrayValue ?? []
        guard !all.isEmpty else { return print("no requests yet") }
        Table(
            titles: ["AT", "GAME", "ITEM", "PLAYER", "VALUE", "STATUS", "NOTE"], rightAligned: [4],
            rows: all.map {
                let note = $0["replayed"]?.boolValue == true ? "replayed" : text($0["fault"] ?? .null)
                return [
                    text($0["at"]), text($0["game"]), text($0["item"]), text($0["player"]), text($0["value"]),
                    text($0["status"]), note,
                ]
            }
        ).print()
    }

    /// The text of a value, safe for a terminal.
    private static func text(_ value: JSONValue?) -> String {
        let text = value?.stringValue ?? value?.numberValue?.text ?? "-"
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}

/// Rows of text in columns.
struct Table {
    let titles: [String]
    /// The columns that end at the same place rather than begin there.
    let rightAligned: Set<Int>
    let rows: [[String]]

    /// The lines, without line feeds.
    var lines: [String] {
        let all = [titles] + rows
        let widths = titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                line += (column > 0 ? "  " : "") + (rightAligned.contains(column) ? padding + cell : cell + padding)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    func print() {
        for line in lines { Swift.print(line) }
    }
}
