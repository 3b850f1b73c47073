import KleosJSON
import KleosSupport

/// The flags that describe faults, for the server's start and for `kleos-practice faults`.
struct FaultFlags {
    /// What the flags set, in the form that `Faults.merge` reads.
    private(set) var members = JSONObject()
    /// Whether everything else is to be cleared first.
    private(set) var clears = false

    /// How a flag takes its value.
    private enum Value {
        /// Without a value it means `standard`; another one comes after `=`.
        case optional(standard: JSONValue)
        case number
        case text
        case latency
        case script
        case rule
    }

    private struct Flag {
        /// As it is typed.
        let name: String
        /// What its value is called, with what stands before it: ` SHARE`, `[=SHARE]`.
        let suffix: String
        /// The member of the faults that it sets.
        let member: String
        let value: Value
        let text: String

        init(_ name: String, _ suffix: String, _ member: String, _ value: Value, _ text: String) {
            self.name = name
            self.suffix = suffix
            self.member = member
            self.value = value
            self.text = text
        }
    }

    private static let table = [
        Flag(
            "--down", "[=refuse|503]", "down", .optional(standard: "refuse"),
            "nothing gets through: close connections, or answer 503"),
        Flag(
            "--failure-share", " SHARE", "failureShare", .number,
            "answer a share (0 to 1) of the requests with an error"),
        Flag(
            "--failure-statuses", " LIST", "failureStatuses", .script,
            "the statuses that --failure-share draws from (500,502,503)"),
        Flag("--seed", " NUMBER", "seed", .number, "make what is drawn repeatable"),
        Flag("--latency", " MS|MIN-MAX", "latencyMilliseconds", .latency, "hold answers back, in milliseconds"),
        Flag(
            "--script", " LIST", "script", .script,
            "one step a request: 200, a status of 400 to 599, close, reset, never, drop, html, redirect; for example "
                + "503,429,200"),
        Flag("--retry-after", " TEXT", "retryAfter", .text, "value of Retry-After in 429 and 503 answers"),
        Flag(
            "--reset-after", " BYTES", "resetAfterBytes", .number,
            "reset the connection after so many bytes of each answer"),
        Flag(
            "--never-answer", "[=SHARE]", "neverAnswer", .optional(standard: true),
            "keep the connection open and say nothing"),
        Flag(
            "--drop-answer", "[=SHARE]", "dropAnswer", .optional(standard: true),
            "let the request take effect, then close without an answer"),
        Flag("--html", "[=SHARE]", "html", .optional(standard: true), "answer 200 with a login page"),
        Flag("--redirect", " URL", "redirect", .text, "answer 302"),
        Flag(
            "--reject", " RULE", "rejectWhere", .rule,
            "reject some submissions, for example "
                + #"'{"leaderboard":"beginner","valueBelow":"10","code":"implausible"}'"#),
        Flag("--not-found", "", "notFound", .optional(standard: true), "answer 404"),
        Flag(
            "--unauthorized", "[=PLAYER]", "unauthorized", .optional(standard: true),
            "answer 401, to everybody or to one player"),
        Flag("--count", " NUMBER", "count", .number, "end all faults after so many requests"),
    ]

    /// The flags for the help.
    static let rows =
        table.map { ProgramUsage.Row("\($0.name)\($0.suffix)", $0.text) } + [
            ProgramUsage.Row("--up", "take --down away"),
            ProgramUsage.Row("--clear", "take all faults away first; for faults URL"),
        ]

    /// Takes the flag at the front of `arguments`, with its value; false where it is not one of these. Throws
    /// `UsageError`.
    mutating func take(_ arguments: inout ArraySlice<String>) throws(UsageError) -> Bool {
        guard let argument = arguments.first else { return false }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let attached = parts.count == 2 ? parts[1] : nil
        switch parts[0] {
        case "--clear":
            clears = true
            arguments.removeFirst()
            return true
        case "--up":
            members["down"] = JSONValue.null
            arguments.removeFirst()
            return true
        default: break
        }
        guard let entry = Self.table.first(where: { $0.name == parts[0] }) else { return false }
        arguments.removeFirst()
        if case .optional(let standard) = entry.value {
            members[entry.member] = attached.map(Self.scalar) ?? standard
            return true
        }
        guard let text = attached ?? arguments.popFirst() else {
            throw UsageError(message: "\(entry.name) needs a value")
        }
        let value = try Self.read(text, entry.value, entry.name)
        if case .rule = entry.value {
            members[entry.member] = .array((members[entry.member]?.arrayValue ?? []) + [value])
        } else {
            members[entry.member] = value
        }
        return true
    }

    private static func read(_ text: String, _ kind: Value, _ flag: String) throws(UsageError) -> JSONValue {
        switch kind {
        case .text, .optional: return .string(text)
        case .number: return scalar(text)
        case .script: return .array(text.split(separator: ",").map { scalar(String($0)) })
        case .latency:
            let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { scalar(String($0)) }
            return bounds.count == 2 ? ["min": bounds[0], "max": bounds[1]] : scalar(text)
        case .rule:
            do {
                return try JSONParser.parse(Array(text.utf8))
            } catch {
                throw UsageError(message: "\(flag) needs a JSON object: \(error)")
            }
        }
    }

    /// A number or truth value where the text is one, else the text.
    private static func scalar(_ text: String) -> JSONValue {
        guard let value = try? JSONParser.parse(Array(text.utf8)) else { return .string(text) }
        switch value {
        case .number, .bool: return value
        default: return .string(text)
        }
    }
}

/// A command line that cannot be understood.
struct UsageError: Error, Equatable {
    let message: String
}
