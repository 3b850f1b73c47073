import KleosModel
import KleosWire

/// The daemon's word that an event is on disk and will be delivered.
public struct SubmitReceipt: Sendable, Equatable {
    /// The daemon's key for the event; `kleos show KEY` tells what became of it.
    public let key: String
    /// The id under which this library submitted it.
    public let id: String
    /// Whether a better event of the same player makes this one unnecessary.
    public let isSuperseded: Bool
    /// Whether the daemon had it already.
    public let isDuplicate: Bool
    /// Parameters that this daemon does not know.
    public let ignoredParameters: [String]

    init(_ answer: SubmitAnswer, id: String) {
        key = answer.key.description
        self.id = id
        isSuperseded = answer.isSuperseded
        isDuplicate = answer.isDuplicate
        ignoredParameters = answer.ignored
    }
}
