/// How far a player is on one board or achievement.
package enum StandingMeasure: Sendable, Equatable {
    case value(ScoreValue)
    /// Percent, 0 … 100.
    case progress(Int)
    case steps(Int64)
}

/// One side of a standing: a best, and when it was reached.
package struct StandingMark: Sendable, Equatable {
    package var measure: StandingMeasure
    /// Unix milliseconds.
    package var atMilliseconds: Int64
    package var rank: Int64?

    /// Makes a mark from its parts.
    package init(measure: StandingMeasure, atMilliseconds: Int64, rank: Int64? = nil) {
        self.measure = measure
        self.atMilliseconds = atMilliseconds
        self.rank = rank
    }
}

/// Best value or progress of one stream: confirmed by the endpoint, and recorded but not confirmed yet.
package struct Standing: Sendable, Equatable {
    package var stream: StreamKey
    package var confirmed: StandingMark?
    package var pending: StandingMark?

    /// Makes a standing from its parts.
    package init(stream: StreamKey, confirmed: StandingMark? = nil, pending: StandingMark? = nil) {
        self.stream = stream
        self.confirmed = confirmed
        self.pending = pending
    }
}
