import KleosSupport

/// A piece of work for the outbox, its result's type forgotten.
struct WorkItem: Sendable {
    /// Does the work; what it returns tells the result, after the COMMIT.
    let run: @Sendable (Outbox) throws(StoreError) -> (@Sendable () -> Void)
    /// Tells a failure.
    let fail: @Sendable (StoreError) -> Void
}

/// Work that waits: users take turns, and within a user's turns that user's connections.
struct WorkQueue {
    private var items = FairQueue<WorkLane.Owner, UInt64, WorkItem>()

    /// Whether nothing waits.
    var isEmpty: Bool { items.isEmpty }

    /// Adds work at the end of its lane.
    mutating func append(_ item: WorkItem, lane: WorkLane) {
        items.append(item, owner: lane.owner, line: lane.number)
    }

    /// Takes the first piece of work of the lane whose turn it is.
    mutating func popFirst() -> WorkItem? { items.popFirst() }
}
