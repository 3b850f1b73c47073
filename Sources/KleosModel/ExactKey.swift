/// A player or another opaque name as a key: the same bytes are the same key, and nothing else is.
package struct ExactKey: Hashable, Sendable {
    package let text: String

    /// Makes a key of `text`.
    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: ExactKey, right: ExactKey) -> Bool { ExactText.same(left.text, right.text) }

    package func hash(into hasher: inout Hasher) {
        // Equal bytes are equal strings, so that String's own hash is good enough.
        hasher.combine(text)
    }
}
