/// What waits, by owner and line: owners take turns, and within an owner's turns that owner's lines do, so that many
/// lines get nobody more than one does. Within a line the first in is the first out.
package struct FairQueue<Owner: Hashable, Line: Hashable, Element> {
    private var owners: [Owner: OwnerLines] = [:]
    private var turns = Turns<Owner>()

    /// Makes an empty queue.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { owners.isEmpty }

    /// Adds an element at the end of its line.
    package mutating func append(_ element: Element, owner: Owner, line: Line) {
        if owners[owner] == nil { turns.append(owner) }
        owners[owner, default: OwnerLines()].append(element, to: line)
    }

    /// Takes the first element of the line whose turn it is; its owner's next turn comes after all others.
    package mutating func popFirst() -> Element? {
        guard let owner = turns.next(), let index = owners.index(forKey: owner) else { return nil }
        let element = owners.values[index].popFirst()
        if owners.values[index].isEmpty { owners.remove(at: index) } else { turns.append(owner) }
        return element
    }

    fileprivate struct OwnerLines {
        private var lines: [Line: Turns<Element>] = [:]
        private var turns = Turns<Line>()

        var isEmpty: Bool { lines.isEmpty }

        mutating func append(_ element: Element, to line: Line) {
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
}

/// First in, first out; the places of what was taken go in large pieces.
private struct Turns<Element> {
    /// Nil where it was taken: an element may hold much, and is let go at once.
    private var elements: [Element?] = []
    private var taken = 0

    var isEmpty: Bool { taken == elements.count }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func next() -> Element? {
        guard taken < elements.count else { return nil }
        let element = elements[taken].take()
        taken += 1
        if taken >= 64, taken * 2 >= elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return element
    }
}

extension FairQueue: Sendable where Owner: Sendable, Line: Sendable, Element: Sendable {}
extension Turns: Sendable where Element: Sendable {}
extension FairQueue.OwnerLines: Sendable where Owner: Sendable, Line: Sendable, Element: Sendable {}
