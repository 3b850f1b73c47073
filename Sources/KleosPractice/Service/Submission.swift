import KleosJSON
import KleosModel

/// Why a submission was not accepted.
struct Rejection: Error, Equatable {
    let status: Int
    let code: String
    let message: String

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    var answer: HTTPAnswer { .error(status, code, message) }
}

/// A submission as its body says it, checked for form.
struct Submission {
    enum Content {
        case score(leaderboard: String, value: ScoreValue, order: SortOrder, keep: KeepRule)
        case achievement(String, AchievementChange, of: Int64?)
    }

    let key: String
    let game: String
    let player: String
    /// When it happened: `occurredAt`, else `recordedAt`, in Unix milliseconds.
    let happenedMilliseconds: Int64
    let content: Content

    /// The leaderboard's or achievement's id.
    var item: String {
        switch content {
        case .score(let leaderboard, _, _, _): leaderboard
        case .achievement(let id, _, _): id
        }
    }

    /// The value, or the progress, as text.
    var valueText: String {
        switch content {
        case .score(_, let value, _, _): value.description
        case .achievement(_, .progress(let percent), _): "\(percent) %"
        case .achievement(_, .steps(let count), let goal): "\(count) of \(goal.map(String.init) ?? "?")"
        case .achievement(_, .increment(let count), _): "+\(count)"
        }
    }

    /// Reads a body. Throws `Rejection`.
    init(score body: JSONValue) throws(Rejection) {
        let reader = try MemberReader(body)
        let text = try reader.text("value", maximumBytes: 64)
        guard let value = Self.decimal(text) else {
            throw Rejection(400, "invalid-value", "\"value\" must be a decimal number in a string")
        }
        guard let order = SortOrder(rawValue: try reader.text("order")) else {
            throw Rejection(400, "invalid-value", "\"order\" must be ascending or descending")
        }
        guard let keep = KeepRule(rawValue: try reader.text("keep")) else {
            throw Rejection(400, "invalid-value", "\"keep\" must be best, latest, every or sum")
        }
        let content = Content.score(
            leaderboard: try reader.text("leaderboard"), value: value, order: order, keep: keep)
        try self.init(common: reader, content: content)
    }

    /// Reads a body. Throws `Rejection`.
    init(achievement body: JSONValue) throws(Rejection) {
        let reader = try MemberReader(body)
        let progress = try reader.integer("progress", in: 0...100)
        let steps = try reader.integer("steps", in: 0...Int64.max)
        let increment = try reader.integer("increment", in: 1...Int64.max)
        let change: AchievementChange
        switch (progress, steps, increment) {
        case (let progress?, nil, nil): change = .progress(Int(progress))
        case (nil, let steps?, nil): change = .steps(steps)
        case (nil, nil, let increment?): change = .increment(increment)
        default:
            throw Rejection(
                400, "invalid-value", "exactly one of \"progress\", \"steps\" and \"increment\" is required")
        }
        let goal = try reader.integer("of", in: 1...Int64.max)
        try self.init(
            common: reader, content: .achievement(try reader.text("achievement"), change, of: goal))
    }

    private init(common reader: MemberReader, content: Content) throws(Rejection) {
        key = try reader.text("key")
        game = try reader.text("game")
        player = try reader.text("player")
        guard let recorded = try reader.time("recordedAt") else {
            throw Rejection(400, "missing-member", "\"recordedAt\" is missing")
        }
        happenedMilliseconds = try reader.time("occurredAt") ?? recorded
        try reader.checkObject("metadata")
        self.content = content
    }

    private static func decimal(_ text: String) -> ScoreValue? {
        guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return nil }
        let fraction = text.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first
        let decimals = fraction?.utf8.count ?? 0
        guard decimals <= ScoreValue.maximumDecimals else { return nil }
        return try? ScoreValue(text: text, decimals: decimals)
    }
}

/// Reads the members of a body, with an error that names the member at fault.
private struct MemberReader {
    let object: JSONObject

    init(_ body: JSONValue) throws(Rejection) {
        guard let object = body.objectValue else { throw Rejection(400, "invalid-json", "the body must be an object") }
        self.object = object
    }

    func text(_ name: String, maximumBytes: Int = 128) throws(Rejection) -> String {
        guard let value = object[name] else { throw Rejection(400, "missing-member", "\"\(name)\" is missing") }
        guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= maximumBytes else {
            throw Rejection(400, "invalid-value", "\"\(name)\" must be a string of 1 to \(maximumBytes) bytes")
        }
        return text
    }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Rejection) -> Int64? {
        guard let value = object[name] else { return nil }
        guard let number = value.int64Value, range.contains(number) else {
            let upper = range.upperBound == .max ? "" : " and at most \(range.upperBound)"
            throw Rejection(
                400, "invalid-value", "\"\(name)\" must be a whole number of at least \(range.lowerBound)\(upper)")
        }
        return number
    }

    func time(_ name: String) throws(Rejection) -> Int64? {
        guard let value = object[name] else { return nil }
        guard let text = value.stringValue, let time = Timestamp.milliseconds(text: text) else {
            throw Rejection(400, "invalid-value", "\"\(name)\" must be a time as of RFC 3339")
        }
        return time
    }

    func checkObject(_ name: String) throws(Rejection) {
        guard let value = object[name] else { return }
        guard value.objectValue != nil else { throw Rejection(400, "invalid-value", "\"\(name)\" must be an object") }
    }
}
