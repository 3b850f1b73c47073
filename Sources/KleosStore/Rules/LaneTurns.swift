import KleosModel

/// Which lanes may have something to send, and whose turn it is; in memory only. A lane too many costs a look; none is
/// ever missing.
final class LaneTurns {
    /// By endpoint, the lane whose turn is next first; nil until they were read.
    private var lanes: [Int64: [Int64]] = [:]
    /// By lane and weight, the delivery up to which nothing fresh can go out now.
    private var cursors: [Place: Int64] = [:]

    /// Lanes in which the odd place went to what was tried before; the next one is for what is fresh.
    private var retried: Set<Int64> = []

    private struct Place: Hashable {
        var lane: Int64
        var weight: Int
    }

    /// The lanes of `endpoint` in the order of their turns; nil where they were not read yet.
    func lanes(of endpoint: Int64) -> [Int64]? { lanes[endpoint] }

    /// Takes over the lanes of an endpoint.
    func set(_ numbers: [Int64], endpoint: Int64) { lanes[endpoint] = numbers }

    /// The lane was served: its next turn comes after the others'.
    func served(_ lane: Int64, endpoint: Int64) {
        guard let index = lanes[endpoint]?.firstIndex(of: lane), let count = lanes[endpoint]?.count, index + 1 < count
        else { return }
        lanes[endpoint]?.remove(at: index)
        lanes[endpoint]?.append(lane)
    }

    /// Whether the odd place is for what was tried before; every other time it is.
    func takeRetryTurn(_ lane: Int64) -> Bool {
        if retried.remove(lane) != nil { return false }
        retried.insert(lane)
        return true
    }

    /// The lane has nothing that goes out by itself.
    func remove(_ lane: Int64, endpoint: Int64) { lanes[endpoint]?.removeAll { $0 == lane } }

    /// A delivery of the lane became ready.
    func wake(lane: Int64, endpoint: Int64, weight: DeliveryPriority, delivery: Int64) {
        wake(lane: lane, endpoint: endpoint)
        let place = Place(lane: lane, weight: weight.rawValue)
        if let cursor = cursors[place], delivery <= cursor { cursors[place] = nil }
    }

    /// The lane has something that may go out, none of it passed over.
    func wake(lane: Int64, endpoint: Int64) {
        if let known = lanes[endpoint], !known.contains(lane) { lanes[endpoint]?.append(lane) }
    }

    /// Something that was passed over in the lane can go out again.
    func rewind(lane: Int64) {
        for weight in 0...2 { cursors[Place(lane: lane, weight: weight)] = nil }
    }

    /// Where the search for something fresh begins.
    func cursor(lane: Int64, weight: Int) -> Int64 { cursors[Place(lane: lane, weight: weight)] ?? 0 }

    /// Nothing fresh up to `delivery` can go out until `rewind`.
    func pass(_ delivery: Int64, lane: Int64, weight: Int) { cursors[Place(lane: lane, weight: weight)] = delivery }

    /// Forgets all; called after ROLLBACK.
    func forget() {
        lanes.removeAll()
        cursors.removeAll()
        retried.removeAll()
    }
}
