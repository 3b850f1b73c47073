/// One thing that is wrong with the configuration, and where.
package struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    package var file: String
    /// Counted from 1; nil where the whole file is meant.
    package var line: Int?
    /// What is wrong and what to do about it.
    package var message: String

    /// Makes a problem from its parts.
    package init(file: String, line: Int? = nil, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// `FILE:LINE: MESSAGE`, as compilers print it.
    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}

/// All problems of one load; nothing of that load is used.
package struct ConfigurationErrors: Error, Equatable, CustomStringConvertible {
    /// Never empty; in the order of files and lines.
    package var problems: [ConfigurationProblem]

    /// One problem a line.
    package var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
