import Glibc

/// The meaning of each log line, in falling weight.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// An event may be lost or the service is down: someone must act now.
    case error = 3
    /// Something needs an administrator's eye; service goes on.
    case warning = 4
    /// A change of state that an administrator wants in the record: start, stop, reload, an endpoint up or down.
    case notice = 5
    /// One line for each finished piece of work.
    case info = 6
    /// For developers of kleos.
    case debug = 7

    /// The level's name in configuration.
    package var name: String { "\(self)" }

    /// Reads a level's name.
    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue > right.rawValue }
}

/// Writes log lines to standard error, with the service manager's level prefix where its journal listens.
///
/// A line is a sentence followed by `key=value` fields. What cannot be seen is written as `\u{…}`; a value with spaces,
/// quotation marks or an equals sign is quoted, as is an empty one.
/// Secrets never go in.
package struct Log: Sendable {
    /// Lines of less weight than this are dropped.
    package let threshold: LogLevel
    private let hasJournal: Bool
    private let sink: (@Sendable (LogLevel, String) -> Void)?

    /// Makes a log; `sink` replaces standard error, for tests.
    package init(threshold: LogLevel = .info, sink: (@Sendable (LogLevel, String) -> Void)? = nil) {
        self.threshold = threshold
        self.sink = sink
        hasJournal = Environment["JOURNAL_STREAM"] != nil
    }

    /// Writes one line.
    package func callAsFunction(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        guard level >= threshold else { return }
        var line = Self.oneLine(message)
        for (key, value) in fields { line += " \(key)=\(Self.quoted(value))" }
        if let sink { return sink(level, line) }
        let text = hasJournal ? "<\(level.rawValue)>\(line)\n" : "kleos: \(level.name): \(line)\n"
        // Nothing can be reported about a standard error that cannot be written to.
        _ = text.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Whatever a message brings along, it is one line, and says nothing that cannot be seen.
    private static func oneLine(_ text: String) -> String { HarmlessText.escaped(text) }

    private static func quoted(_ value: String) -> String {
        let text = oneLine(value)
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 != 0x20 && $0 != 0x22 && $0 != 0x3D }
        return isPlain ? text : "\"" + text.replacing("\"", with: "'") + "\""
    }
}
