import KleosJSON

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

    private static let table: [(flag: String, member: String, value: Value)] = [
        ("--down", "down", .optional(standard: "refuse")),
        ("--failure-share", "failureShare", .number),
        ("--failure-statuses", "failureStatuses", .script),
        ("--seed", "seed", .number),
        ("--latency", "latencyMilliseconds", .latency),
        ("--script", "script", .script),
        ("--retry-after", "retryAfter", .text),
        ("--reset-after", "resetAfterBytes", .number),
        ("--never-answer", "neverAnswer", .optional(standard: true)),
        ("--drop-answer", "dropAnswer", .optional(standard: true)),
        ("--html", "html", .optional(standard: true)),
        ("--redirect", "redirect", .text),
        ("--reject", "rejectWhere", .rule),
        ("--not-found", "notFound", .optional(standard: true)),
        ("--unauthorized", "unauthorized", .optional(standard: true)),
        ("--count", "count", .number),
    ]

    /// The flags for `--help`.
    static let help = """
          --down[=refuse|503]        nothing gets through: close connections, or answer 503
          --up                       take --down away
          --failure-share SHARE      answer a share (0 to 1) of the requests with an error
          --failure-statuses LIST    the statuses that --failure-share draws from (500,502,503)
          --seed NUMBER              make what is drawn repeatable
          --latency MS|MIN-MAX       hold answers back, in milliseconds
          --script LIST              one step a request: 200, a status of 400 to 599, close, reset,
                                     never, drop, html, redirect; for example 503,429,200
          --retry-after TEXT         value of Retry-After in 429 and 503 answers
          --reset-after BYTES        reset the connection after so many bytes of each answer
          --never-answer[=SHARE]     keep the connection open and say nothing
          --drop-answer[=SHARE]      let the request take effect, then close without an answer
          --html[=SHARE]             answer 200 with a login page
          --redirect URL             answer 302
          --reject RULE              reject some submissions, for example
                                     '{"leaderboard": "beginner", "valueBelow": "10", "code": "implausible"}'
          --not-found                answer 404
          --unauthorized[=PLAYER]    answer 401, to everybody or to one player
          --count NUMBER             end all faults after so many requests
        """

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
        guard let entry = Self.table.first(where: { $0.flag == parts[0] }) else { return false }
        arguments.removeFirst()
        if case .optional(let standard) = entry.value {
            members[entry.member] = attached.map(Self.scalar) ?? standard
            return true
        }
        guard let text = attached ?? arguments.popFirst() else {
            throw UsageError(message: "\(entry.flag) needs a value")
        }
        let value = try Self.read(text, entry.value, entry.flag)
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
