import KleosJSON

/// A step of an event on its way to one endpoint.
public struct KleosDelivery: Sendable, Equatable {
    /// Where an event stands.
    public enum State: String, Sendable, CaseIterable {
        /// It waits for its turn.
        case waiting
        /// It may go out.
        case ready
        /// It is being sent.
        case sending
        /// The endpoint confirmed it.
        case delivered
        /// A better or newer event made it unnecessary.
        case superseded
        /// The endpoint refused it for good; an operator may retry it.
        case dead
        /// An operator holds it.
        case held
        /// An operator discarded it.
        case discarded
    }

    /// The daemon's key of the event, as in its receipt.
    public let key: String
    /// The endpoint's name.
    public let endpoint: String
    /// The player.
    public let player: String
    /// Where it stands now; nil for a state that a newer daemon made up.
    public let state: State?
    /// Why, as a stable word, where there is a reason.
    public let reason: String?

    init(_ json: JSONValue) {
        key = json["key"]?.stringValue ?? ""
        endpoint = json["endpoint"]?.stringValue ?? ""
        player = json["player"]?.stringValue ?? ""
        state = json["state"]?.stringValue.flatMap(State.init)
        reason = json["reason"]?.stringValue
    }
}
