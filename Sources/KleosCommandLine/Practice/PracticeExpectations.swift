package import KleosJSON
import KleosModel

/// What must have happened in a practice run, as `--expect FILE` says it. Pure.
package struct PracticeExpectations: Sendable {
    /// The lists of a file, each of patterns for one kind of row.
    enum Section: String, CaseIterable, Sendable {
        case deliveries
        case notices
        case boards
        case achievements

        /// The members that a pattern of the list may have, `count` aside.
        var members: [String] {
            switch self {
            case .deliveries:
                [
                    "game", "player", "kind", "leaderboard", "achievement", "value", "display", "progress", "steps",
                    "increment", "id", "state", "reason", "attempts",
                ]
            case .notices: ["game", "player", "kind", "leaderboard", "achievement", "value", "rank", "title", "body"]
            case .boards: ["game", "leaderboard", "player", "value", "rank"]
            case .achievements: ["game", "achievement", "player", "progress", "steps", "unlocked"]
            }
        }

        /// One row in words, and several.
        var noun: (one: String, many: String) {
            switch self {
            case .deliveries: ("delivery", "deliveries")
            case .notices: ("notice", "notices")
            case .boards: ("entry of a board", "entries of boards")
            case .achievements: ("achievement", "achievements")
            }
        }
    }

    /// What is not as it should be.
    package struct Difference: Sendable, Equatable {
        package var message: String
        /// The pattern, where one was not met.
        package var expected: JSONValue?
        /// The row, where it is one that should not be.
        package var found: JSONValue?
    }

    private struct Pattern {
        var members: JSONObject
        /// How many rows must match; nil for at least one.
        var count: Int?

        var json: JSONValue { .object(members) }

        func matches(_ row: JSONValue) -> Bool {
            members.members.allSatisfy { member in
                row[member.name].map { PracticeExpectations.isSame($0, member.value) } ?? false
            }
        }
    }

    private var patterns: [Section: [Pattern]] = [:]
    private var onlyThese = false

    /// No expectations but the usual: that nothing is dead or on its way.
    package init() {}

    /// Reads a file's content; `path` names it in errors. Throws a failure.
    package init(_ value: JSONValue, path: String) throws(CommandFailure) {
        guard let object = value.objectValue else { throw Self.wrong(path, "it must be an object") }
        for member in object.members {
            if member.name == "onlyThese" {
                guard let flag = member.value.boolValue else { throw Self.wrong(path, "onlyThese is true or false") }
                onlyThese = flag
                continue
            }
            guard let section = Section(rawValue: member.name) else {
                throw Self.unknown(path, member.name, in: Section.allCases.map(\.rawValue) + ["onlyThese"])
            }
            guard let elements = member.value.arrayValue else {
                throw Self.wrong(path, "\(section.rawValue) is a list")
            }
            var list: [Pattern] = []
            for element in elements { list.append(try Self.pattern(element, section, path)) }
            patterns[section] = list
        }
    }

    private static func pattern(
        _ value: JSONValue, _ section: Section, _ path: String
    ) throws(CommandFailure) -> Pattern {
        guard let object = value.objectValue else {
            throw wrong(path, "\(section.rawValue) holds objects, not \(value.serialized)")
        }
        var pattern = Pattern(members: JSONObject())
        for member in object.members {
            if member.name == "count" {
                guard let count = member.value.int64Value, (0...1_000_000).contains(count) else {
                    throw wrong(path, "count is a whole number from 0")
                }
                pattern.count = Int(count)
            } else if section.members.contains(member.name) {
                pattern.members[member.name] = member.value
            } else {
                throw unknown(path, member.name, in: section.members + ["count"])
            }
        }
        return pattern
    }

    private static func unknown(_ path: String, _ name: String, in names: [String]) -> CommandFailure {
        let suggestion = Spelling.nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
        return wrong(path, "there is no member \(name)\(suggestion)")
    }

    private static func wrong(_ path: String, _ message: String) -> CommandFailure {
        CommandFailure(.data, "\(path): \(message)", hint: "docs/practice.md says what it may hold")
    }

    /// Numbers are the same however they are spelled, and a number is the same as its text.
    private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if left == right { return true }
        guard let one = left.stringValue ?? left.numberValue?.text,
            let other = right.stringValue ?? right.numberValue?.text
        else { return false }
        if one == other { return true }
        // Only texts that are numbers are compared as such.
        guard let first = try? ScoreValue(text: one, decimals: ScoreValue.maximumDecimals),
            let second = try? ScoreValue(text: other, decimals: ScoreValue.maximumDecimals)
        else { return false }
        return first == second
    }
}

extension PracticeExpectations {
    /// All that is not as it should be, in the order of the file; then what is dead or on its way, then what nothing
    /// asked for. `rows` are the deliveries, notices, entries of boards and achievements as the report prints them.
    func differences(_ rows: [Section: [JSONValue]]) -> [Difference] {
        var differences: [Difference] = []
        for section in Section.allCases {
            let found = rows[section] ?? []
            for pattern in patterns[section] ?? [] {
                let count = found.count { Self.matches(pattern, $0, section) }
                if let message = Self.complaint(pattern, count, section) {
                    differences.append(Difference(message: message, expected: pattern.json))
                }
            }
        }
        for row in rows[.deliveries] ?? [] where !Self.isThrough(row) && !isAskedFor(row, .deliveries) {
            let reason = row["reason"]?.stringValue.map { " (\($0))" } ?? ""
            let message = "\(Self.text(row)) is \(row["state"]?.stringValue ?? "lost")\(reason)"
            differences.append(Difference(message: message, found: row))
        }
        return differences + (onlyThese ? unasked(rows) : [])
    }

    private func unasked(_ rows: [Section: [JSONValue]]) -> [Difference] {
        Section.allCases.flatMap { section -> [Difference] in
            guard patterns[section] != nil else { return [] }
            return (rows[section] ?? []).filter { row in
                (section != .deliveries || Self.isThrough(row)) && !isAskedFor(row, section)
            }.map { Difference(message: "nothing expected the \(section.noun.one) \(Self.text($0))", found: $0) }
        }
    }

    private func isAskedFor(_ row: JSONValue, _ section: Section) -> Bool {
        (patterns[section] ?? []).contains { Self.matches($0, row, section) }
    }

    /// A pattern without a state means what got through: delivered, or superseded by something better that did.
    private static func matches(_ pattern: Pattern, _ row: JSONValue, _ section: Section) -> Bool {
        if section == .deliveries, pattern.members["state"] == nil, !isThrough(row) { return false }
        return pattern.matches(row)
    }

    private static func isThrough(_ row: JSONValue) -> Bool {
        let through: [DeliveryState] = [.delivered, .superseded]
        return row["state"]?.stringValue.flatMap(DeliveryState.init).map(through.contains) ?? false
    }

    private static func complaint(_ pattern: Pattern, _ count: Int, _ section: Section) -> String? {
        let text = pattern.json.serialized
        guard let expected = pattern.count else {
            return count > 0 ? nil : "no \(section.noun.one) is like \(text)"
        }
        if count == expected { return nil }
        let found = Counted.text(count, "\(section.noun.one) is", "\(section.noun.many) are")
        return "\(found) like \(text), not \(expected)"
    }

    private static func text(_ row: JSONValue) -> String {
        let names = ["game", "leaderboard", "achievement", "value", "player"]
        return names.compactMap { row[$0]?.stringValue }.joined(separator: " ")
    }
}
