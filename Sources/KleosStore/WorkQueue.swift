/// A piece of work for the outbox, its result's type forgotten.
struct WorkItem: Sendable {
    /// Does the work; what it returns tells the result, after the COMMIT.
    let run: @Sendable (Outbox) throws(StoreError) -> (@Sendable () -> Void)
    /// Tells a failure.
    let fail: @Sendable (StoreError) -> Void
}

/// Work that waits: users take turns, and within a user's turns that user's connections, so that many connections get
/// nobody more than one does.
struct WorkQueue {
    private var owners: [WorkLane.Owner: Rotation<UInt64, WorkItem>] = [:]
    private var turns = Turns<WorkLane.Owner>()

    /// Whether nothing waits.
    var isEmpty: Bool { owners.isEmpty }

    /// Adds work at the end of its lane.
    mutating func append(_ item: WorkItem, lane: WorkLane) {
        if owners[lane.owner] == nil { turns.append(lane.owner) }
        owners[lane.owner, default: Rotation()].append(item, to: lane.number)
    }

    /// Takes the first piece of work of the lane whose turn it is; its owner's next turn comes after all others.
    mutating func popFirst() -> WorkItem? {
        guard let owner = turns.next(), let index = owners.index(forKey: owner) else { return nil }
        let item = owners.values[index].popFirst()
        if owners.values[index].isEmpty { owners.remove(at: index) } else { turns.append(owner) }
        return item
    }
}

/// Elements in lines that take turns.
private struct Rotation<Key: Hashable, Element> {
    private var lines: [Key: Turns<Element>] = [:]
    private var turns = Turns<Key>()

    var isEmpty: Bool { lines.isEmpty }

    mutating func append(_ element: Element, to line: Key) {
        if lines[line] == nil { turns.append(line) }
        lines[line, default: Turns()].append(element)
    }

    mutating func popFirst() -> Element? {
        guard let line = turns.next(), let index = lines.index(forKey: line) else { return nil }
        let element = lines.values[index].next()
        if lines.values[index].isEmpty { lines.remove(at: index) } else { turns.append(line) }
        return element
    }
}

/// First in, first out; what was taken is dropped in large pieces.
private struct Turns<Element> {
    private var elements: [Element] = []
    private var taken = 0

    var isEmpty: Bool { taken == elements.count }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func next() -> Element? {
        guard taken < elements.count else { return nil }
        let element = elements[taken]
        taken += 1
        if taken >= 64, taken * 2 >= elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return element
    }
}
