/// What a failure or a change of network says about connections and addresses that are known already. Pure.
struct ConnectionFreshness {
    /// Connections die at routers and servers without a word; those idle for less are mostly alive.
    static let usualIdleSeconds: Int64 = 60

    private struct Drop {
        /// How many drops there were, this one included.
        var count: Int
        var atMilliseconds: Int64
    }

    /// How many drops there were; a connection that is seen at work notes it.
    private(set) var dropCount = 0
    private var ofAll: Drop?
    private var ofOrigin: [String: Drop] = [:]

    /// Connections to every origin are stale from now on.
    mutating func drop(atMilliseconds now: Int64) {
        dropCount += 1
        ofAll = Drop(count: dropCount, atMilliseconds: now)
        ofOrigin = [:]
    }

    /// Connections to `origin` are stale from now on.
    mutating func drop(origin: String, atMilliseconds now: Int64) {
        // More origins than endpoints have come and gone; the oldest facts are worth the least.
        if ofOrigin.count > 256 { ofOrigin = [:] }
        dropCount += 1
        ofOrigin[origin] = Drop(count: dropCount, atMilliseconds: now)
    }

    private func last(_ origin: String) -> Drop? { ofOrigin[origin] ?? ofAll }

    /// Whether a connection to `origin` that was seen at work after so many drops has proved nothing since the last one.
    func isStale(origin: String, seenAfter count: Int) -> Bool {
        last(origin).map { count < $0.count } ?? false
    }

    /// How long the addresses of `origin` may be known for; libcurl counts in whole seconds, so that right after a drop
    /// the name is asked for each time.
    func maximumAddressSeconds(origin: String, atMilliseconds now: Int64) -> Int64 {
        guard let drop = last(origin) else { return Self.usualIdleSeconds }
        return max(0, min(Self.usualIdleSeconds, (now - drop.atMilliseconds) / 1000 - 1))
    }
}
