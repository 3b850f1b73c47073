/// What is going to happen, the earliest first; a binary heap.
struct Agenda {
    /// Something that happens at a time.
    struct Entry {
        var at: Int64
        /// Whose work it is; it does not happen once that life has ended.
        var life: Life?
        var work: () -> Void
        /// Keeps what happens at one time in the order in which it was entered.
        fileprivate var sequence: UInt64 = 0

        init(at: Int64, life: Life?, work: @escaping () -> Void) {
            self.at = at
            self.life = life
            self.work = work
        }
    }

    private var heap: [Entry] = []
    private var sequence: UInt64 = 0

    /// The earliest.
    var first: Entry? { heap.first }
    /// How much there is.
    var count: Int { heap.count }

    /// Adds an entry.
    mutating func insert(_ entry: Entry) {
        var entry = entry
        sequence += 1
        entry.sequence = sequence
        heap.append(entry)
        rise(from: heap.count - 1)
    }

    /// Removes the earliest; there is one.
    mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink(from: 0)
    }

    /// Removes what belongs to lives that ended.
    mutating func removeEnded() {
        heap = heap.filter { $0.life?.isAlive ?? true }.sorted(by: Self.isEarlier)
    }

    private static func isEarlier(_ left: Entry, _ right: Entry) -> Bool {
        (left.at, left.sequence) < (right.at, right.sequence)
    }

    private mutating func rise(from index: Int) {
        var index = index
        while index > 0, Self.isEarlier(heap[index], heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(from index: Int) {
        var index = index
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && Self.isEarlier(heap[child], heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
