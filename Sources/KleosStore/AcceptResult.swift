package import KleosModel

/// What became of an event that was handed over.
package enum AcceptResult: Sendable, Equatable {
    /// Recorded; it is delivered from here on.
    case accepted(EventKey)
    /// Recorded, and replaced at once by something better on every one of its ways.
    case superseded(EventKey)
    /// The same event was recorded before under the same id.
    case duplicate(EventKey, isSuperseded: Bool)
    /// Another event was recorded before under the same id.
    case idConflict(existing: EventKey)
    /// Not recorded; the sentence says why.
    case queueFull(String)
}
