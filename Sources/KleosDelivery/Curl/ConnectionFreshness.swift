/// Which idle connections are too old to be used again: those from before a failure or a change of network. Pure.
struct ConnectionFreshness {
    /// How a new transfer may use idle connections.
    struct Reuse: Equatable {
        /// Whether it needs a connection of its own.
        var isForbidden: Bool
        /// A connection that was idle for longer is not used, seconds.
        var maximumIdleSeconds: Int64
    }

    /// Idle connections die at routers and servers without a word; younger ones are mostly alive.
    static let usualIdleSeconds: Int64 = 60

    private var allDroppedAt: Int64?
    private var originDroppedAt: [String: Int64] = [:]

    /// Connections to every origin are stale from now on.
    mutating func drop(atMilliseconds now: Int64) {
        allDroppedAt = now
        originDroppedAt = [:]
    }

    /// Connections to `origin` are stale from now on.
    mutating func drop(origin: String, atMilliseconds now: Int64) {
        // More origins than endpoints have come and gone; the oldest facts are worth the least.
        if originDroppedAt.count > 256 { originDroppedAt = [:] }
        originDroppedAt[origin] = now
    }

    /// How a transfer to `origin` may use idle connections: libcurl tells their age in whole seconds, so that right
    /// after a drop none may be used, and then only those that have been idle for less time than has passed.
    func reuse(origin: String, atMilliseconds now: Int64) -> Reuse {
        guard let dropped = [allDroppedAt, originDroppedAt[origin]].compactMap({ $0 }).max() else {
            return Reuse(isForbidden: false, maximumIdleSeconds: Self.usualIdleSeconds)
        }
        let seconds = (now - dropped) / 1000
        guard seconds >= 2 else { return Reuse(isForbidden: true, maximumIdleSeconds: 1) }
        return Reuse(isForbidden: false, maximumIdleSeconds: min(Self.usualIdleSeconds, seconds - 1))
    }
}
