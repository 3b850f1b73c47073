/// A piece of work for the outbox, its result's type forgotten.
struct WorkItem: Sendable {
    /// Does the work; what it returns tells the result, after the COMMIT.
    let run: @Sendable (Outbox) throws(StoreError) -> (@Sendable () -> Void)
    /// Tells a failure.
    let fail: @Sendable (StoreError) -> Void
}

/// Work that waits, by lane; lanes take turns.
struct WorkQueue {
    private var lanes: [UInt64: Lane] = [:]
    /// Lanes with work, in the order of their turns; those before `next` had theirs.
    private var turns: [UInt64] = []
    private var next = 0

    private struct Lane {
        var items: [WorkItem] = []
        var next = 0
    }

    /// Whether nothing waits.
    var isEmpty: Bool { lanes.isEmpty }

    /// Adds work at the end of its lane.
    mutating func append(_ item: WorkItem, lane: UInt64) {
        if lanes[lane] == nil { turns.append(lane) }
        lanes[lane, default: Lane()].items.append(item)
    }

    /// Takes the first piece of work of the lane whose turn it is; that lane's next turn comes after all others.
    mutating func popFirst() -> WorkItem? {
        guard next < turns.count else { return nil }
        let lane = turns[next]
        next += 1
        guard let index = lanes.index(forKey: lane) else { return nil }
        let position = lanes.values[index].next
        let item = lanes.values[index].items[position]
        if position + 1 < lanes.values[index].items.count {
            lanes.values[index].next += 1
            turns.append(lane)
            if position >= 64, position * 2 >= lanes.values[index].items.count {
                lanes.values[index].items.removeFirst(position + 1)
                lanes.values[index].next = 0
            }
        } else {
            lanes.remove(at: index)
        }
        if next >= 64, next * 2 >= turns.count {
            turns.removeFirst(next)
            next = 0
        }
        return item
    }
}
