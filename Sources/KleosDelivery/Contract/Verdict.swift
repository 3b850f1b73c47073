package import KleosModel

/// What an answer, or the lack of one, means for the delivery and for its endpoint.
package struct Verdict: Sendable, Equatable {
    /// What it says about the endpoint as a whole.
    package enum EndpointEffect: Sendable, Equatable {
        /// It works.
        case healthy
        /// Nothing either way.
        case none
        /// It does not work for anybody: no connection, a stranger's answer.
        case failing
        /// It has trouble, perhaps only with this delivery.
        case serverError
        /// It refuses in a way that a wrong address would too.
        case rejecting
    }

    package var outcome: Outcome
    /// What the endpoint said about a confirmed event.
    package var confirmation: Confirmation?
    /// What went wrong, as a sentence.
    package var message: String?
    /// How long the endpoint wants to be left alone.
    package var retryAfterMilliseconds: Int64?
    package var endpointEffect: EndpointEffect
    /// Why no answer of the contract came, where that is so.
    package var cause: TroubleCause?
    /// Whether a permanent answer is in the service's own form, so that nobody else can have given it.
    package var isAuthentic: Bool
    /// Whether the event may have taken effect although it was not confirmed.
    package var mayHaveTakenEffect: Bool

    /// Makes a verdict from its parts.
    package init(
        _ outcome: Outcome, confirmation: Confirmation? = nil, message: String? = nil,
        retryAfterMilliseconds: Int64? = nil, endpointEffect: EndpointEffect, cause: TroubleCause? = nil,
        isAuthentic: Bool = false,
        mayHaveTakenEffect: Bool = false
    ) {
        self.outcome = outcome
        self.confirmation = confirmation
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.endpointEffect = endpointEffect
        self.cause = cause
        self.isAuthentic = isAuthentic
        self.mayHaveTakenEffect = mayHaveTakenEffect
    }
}
