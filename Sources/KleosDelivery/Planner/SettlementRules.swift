package import KleosModel
package import KleosSupport

/// What becomes of one delivery after an attempt. Pure.
package enum SettlementRules {
    /// What is known about the endpoint at that moment.
    package struct EndpointFacts: Sendable, Equatable {
        package var endpoint: Endpoint
        /// Whether it has confirmed something with its present settings.
        package var isConfirmed: Bool
        /// When it last confirmed something, Unix milliseconds.
        package var lastSuccessMilliseconds: Int64?
    }

    /// What is known about the delivery before the attempt.
    package struct DeliveryFacts: Sendable, Equatable {
        /// Attempts that backoff counts, the one just made left out.
        package var backoffAttempts: Int
        /// Attempts that ended in a 5xx, the one just made left out.
        package var serverErrors: Int
        /// When the attempt before began, or else when the event was recorded, Unix milliseconds.
        package var lastTriedMilliseconds: Int64

        /// Makes facts from their parts.
        package init(backoffAttempts: Int, serverErrors: Int, lastTriedMilliseconds: Int64) {
            self.backoffAttempts = backoffAttempts
            self.serverErrors = serverErrors
            self.lastTriedMilliseconds = lastTriedMilliseconds
        }
    }

    /// Decides. `notice` is what to tell the player if the event is confirmed.
    package static func settlement(
        _ verdict: Verdict, delivery: DeliveryFacts, facts: EndpointFacts, notice: NoticeDraft?, now: ClockReading,
        random: inout SeededGenerator
    ) -> Settlement {
        let endpoint = facts.endpoint
        let message = verdict.message ?? "the endpoint said nothing more"
        let isOnlyOnce = endpoint.resend == .accumulates && !endpoint.isAtLeastOnce
        switch verdict.outcome {
        case .delivered, .alreadyDone: return .delivered(verdict.confirmation ?? Confirmation(), notice: notice)
        case _ where isOnlyOnce && verdict.mayHaveTakenEffect:
            return .dead(
                .ambiguous, message: "\(message); the event may have counted, and a second send would count twice")
        case .permanent where verdict.isAuthentic || facts.isConfirmed: return .dead(.rejected, message: message)
        case .interrupted: return .retry(dueMilliseconds: now.wallMilliseconds, isServerError: false)
        case .credentials:
            let due = now.wallMilliseconds + endpoint.retry.floorMilliseconds
            return .retry(dueMilliseconds: due, isServerError: false)
        case .throttled, .retry, .permanent:
            let isServerError = verdict.endpointEffect == .serverError
            // A success from before the last attempt proves nothing: an outage for all must not end anything.
            if isServerError, delivery.serverErrors + 1 >= endpoint.maximumServerErrors,
                let success = facts.lastSuccessMilliseconds, success >= delivery.lastTriedMilliseconds
            {
                return .dead(
                    .serverErrors,
                    message: "\(message), \(delivery.serverErrors + 1) times, while the endpoint confirmed others")
            }
            let delay = delayMilliseconds(verdict, delivery: delivery, policy: endpoint.retry, random: &random)
            return .retry(dueMilliseconds: now.wallMilliseconds + delay, isServerError: isServerError)
        }
    }

    private static func delayMilliseconds(
        _ verdict: Verdict, delivery: DeliveryFacts, policy: RetryPolicy, random: inout SeededGenerator
    ) -> Int64 {
        if let wish = verdict.retryAfterMilliseconds {
            return policy.delayMilliseconds(retryAfterMilliseconds: wish, random: &random)
        }
        return policy.delayMilliseconds(attemptsMade: delivery.backoffAttempts + 1, random: &random)
    }
}
