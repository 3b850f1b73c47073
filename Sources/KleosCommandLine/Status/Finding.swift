/// Something that keeps events from being taken or delivered: what happened, to what, and what to do next.
package struct Finding: Sendable, Equatable {
    /// How much it asks of somebody.
    package enum Level: Int, Sendable, Comparable {
        /// Good to know; it passes by itself.
        case note
        /// Somebody should look after it soon.
        case warning
        /// It does not pass without somebody.
        case critical

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    package var level: Level
    /// What it is about: an endpoint's name, `machine`, `queue`.
    package var subject: String
    /// Which kind it is, in a word that does not change.
    package var cause: String
    /// What happened, to what; a sentence.
    package var text: String
    /// What was said last by whoever caused it; may be long.
    package var detail: String?
    /// What to do next; a sentence.
    package var advice: String

    /// Makes a finding.
    package init(
        _ level: Level, _ subject: String, _ cause: String, _ text: String, detail: String? = nil, advice: String
    ) {
        self.level = level
        self.subject = subject
        self.cause = cause
        self.text = text
        self.detail = detail
        self.advice = advice
    }
}
