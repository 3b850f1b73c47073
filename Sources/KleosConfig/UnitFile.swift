/// One `Key=Value` line, continuation lines joined.
struct Assignment: Equatable {
    var key: String
    /// The language tag of `Key[de]=`.
    var language: String?
    var value: String
    var file: String
    /// The line that the key stands on, counted from 1.
    var line: Int

    /// As left of the equals sign.
    var name: String { language.map { "\(key)[\($0)]" } ?? key }
}

/// One `[Name argument]` with what stands below it.
struct UnitSection: Equatable {
    var name: String
    /// What follows the name in the brackets; empty where nothing does.
    var argument: String
    var file: String
    var line: Int
    var assignments: [Assignment] = []

    /// As between the brackets.
    var title: String { argument.isEmpty ? name : "\(name) \(argument)" }
}

/// What one file says, in its order, before anything is known about its keys.
struct UnitFile: Equatable {
    var path: String
    var sections: [UnitSection] = []
}
