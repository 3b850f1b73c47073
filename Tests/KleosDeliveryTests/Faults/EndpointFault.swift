import KleosModel
import Testing

/// One thing that an endpoint does wrong to the first request of a delivery; every later one is confirmed.
struct EndpointFault: Sendable, CustomTestStringConvertible {
    /// What becomes of the delivery.
    enum Fate: Sendable, Equatable {
        /// Confirmed by the first answer.
        case delivered
        /// The first attempt ends so; the second, with the same bytes, is confirmed.
        case repeated(Outcome)
        /// The first attempt ends so; nothing is sent for so many milliseconds.
        case waits(Outcome, Range<Int64>)
        /// Ended for good, after one request.
        case dead(DeliveryReason)
        /// Kept, while the endpoint is paused until somebody mends the credentials.
        case paused
    }

    /// What it is, for people.
    var name: String
    var reply: RawServer.Reply
    /// At a service that knows the idempotency key.
    var keyed: Fate
    /// At a service where a second send would count twice.
    var accumulating: Fate
    /// What the attempt's message has to say; nil where there is none.
    var words: String?
    /// Whether the endpoint confirms something else first.
    var isConfirmedBefore = false
    var timeoutMilliseconds: Int64 = 20_000

    var testDescription: String { name }

    /// A fault with the same fate at both kinds of service.
    init(_ name: String, _ reply: RawServer.Reply, _ fate: Fate, _ words: String?) {
        self.init(name, reply, keyed: fate, accumulating: fate, words)
    }

    init(_ name: String, _ reply: RawServer.Reply, keyed: Fate, accumulating: Fate, _ words: String?) {
        self.name = name
        self.reply = reply
        self.keyed = keyed
        self.accumulating = accumulating
        self.words = words
    }

    /// A fault after which nobody can say whether the event took effect.
    static func unclear(_ name: String, _ reply: RawServer.Reply, _ words: String) -> EndpointFault {
        EndpointFault(name, reply, keyed: .repeated(.retry), accumulating: .dead(.ambiguous), words)
    }

    func fate(_ resend: ResendEffect) -> Fate { resend == .accumulates ? accumulating : keyed }
}
