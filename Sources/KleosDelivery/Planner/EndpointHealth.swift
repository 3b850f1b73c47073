package import KleosModel
package import KleosSupport

/// Whether an endpoint takes deliveries, learned from what became of them. Pure.
///
/// A connection that fails, or a stranger's answer, makes it failing at once; 5xx only over three streams with no
/// success between, since one event may upset a healthy service. While it fails, one delivery at a time goes out as a
/// probe, further and further apart; a success ends it.
package struct EndpointHealth: Sendable, Equatable {
    /// 5xx on so many streams with no success between make the endpoint failing.
    package static let serverErrorStreams = 3
    /// Unexplained refusals on so many streams, from an endpoint that never confirmed anything, pause it.
    package static let rejectingStreams = 5

    /// Why and since when it is failing; nil while it is up.
    package private(set) var failure: Trouble?
    /// What went wrong last.
    package private(set) var lastError: String?
    /// When it last confirmed something, Unix milliseconds.
    package private(set) var lastSuccessMilliseconds: Int64?
    /// When the next probe may go out, on the boot clock.
    package private(set) var nextProbeBootMilliseconds: Int64 = 0
    private var probesMade = 0
    private var isProbing = false
    private var upset: Set<StreamKey> = []
    private var refused: Set<StreamKey> = []

    /// A reason with its beginning.
    package struct Trouble: Sendable, Equatable {
        package var cause: TroubleCause
        package var reason: String
        /// Unix milliseconds.
        package var sinceMilliseconds: Int64

        /// Makes a trouble.
        package init(cause: TroubleCause, reason: String, sinceMilliseconds: Int64) {
            self.cause = cause
            self.reason = reason
            self.sinceMilliseconds = sinceMilliseconds
        }

        /// Makes a pause from what the store keeps of it.
        package init(pause reason: String, sinceMilliseconds: Int64) {
            self.init(
                cause: TroubleCause.ofPause(reason: reason), reason: reason, sinceMilliseconds: sinceMilliseconds)
        }
    }

    /// Starts healthy, with what was remembered of the last success.
    package init(lastSuccessMilliseconds: Int64?) {
        self.lastSuccessMilliseconds = lastSuccessMilliseconds
    }

    /// The endpoint works; returns whether that is news.
    package mutating func succeeded(isConfirmation: Bool, now: ClockReading) -> Bool {
        if isConfirmation { lastSuccessMilliseconds = now.wallMilliseconds }
        upset = []
        refused = []
        probesMade = 0
        isProbing = false
        defer { failure = nil }
        return failure != nil
    }

    /// The endpoint works for nobody; returns whether that is news.
    package mutating func failed(
        _ message: String, cause: TroubleCause, policy: RetryPolicy, now: ClockReading, random: inout SeededGenerator
    ) -> Bool {
        lastError = message
        let isNews = failure == nil
        if isNews { failure = Trouble(cause: cause, reason: message, sinceMilliseconds: now.wallMilliseconds) }
        failure?.cause = cause
        failure?.reason = message
        // What was in flight when the endpoint began to fail says nothing new about it.
        if isNews || isProbing {
            probesMade += 1
            let delay = policy.delayMilliseconds(attemptsMade: probesMade, random: &random)
            nextProbeBootMilliseconds = now.bootMilliseconds + delay
        }
        isProbing = false
        return isNews
    }

    /// A 5xx for a delivery of `stream`; returns whether the endpoint is failing from now on.
    package mutating func serverError(
        _ message: String, stream: StreamKey, policy: RetryPolicy, now: ClockReading, random: inout SeededGenerator
    ) -> Bool {
        lastError = message
        if failure != nil {
            return failed(message, cause: .serverErrors, policy: policy, now: now, random: &random)
        }
        upset.insert(stream)
        guard upset.count >= Self.serverErrorStreams else { return false }
        upset = []
        return failed(message, cause: .serverErrors, policy: policy, now: now, random: &random)
    }

    /// An unexplained refusal; returns whether there are now enough to doubt the endpoint's settings.
    package mutating func refused(_ message: String, stream: StreamKey) -> Bool {
        lastError = message
        isProbing = false
        refused.insert(stream)
        return refused.count >= Self.rejectingStreams
    }

    /// Whether a delivery may go out as a probe now.
    package func mayProbe(now: ClockReading) -> Bool {
        now.bootMilliseconds >= nextProbeBootMilliseconds
    }

    /// A delivery goes out as a probe.
    package mutating func probeBegan() {
        isProbing = true
    }

    /// The probe found nothing to send, or ended without saying anything about the endpoint.
    package mutating func probeEnded() {
        isProbing = false
    }

    /// Brings the next probe forward, spread over `withinMilliseconds`.
    package mutating func probeSoon(
        withinMilliseconds: Int64, now: ClockReading, random: inout SeededGenerator
    ) {
        let soon = now.bootMilliseconds + Int64.random(in: 0...max(0, withinMilliseconds), using: &random)
        nextProbeBootMilliseconds = min(nextProbeBootMilliseconds, soon)
        probesMade = min(probesMade, 1)
    }
}
