/// Which files of the spool are taken in next: users take turns, and who was told to wait waits. Pure.
///
/// Of one user so many names are held; the rest stay in the folder, and a listing finds them when those are through. So
/// a flood costs its own user time, and nobody memory.
struct SpoolPlan {
    /// How much is held and allowed.
    struct Limits {
        /// Names held for one user.
        var heldPerUser = 1_024
        /// Names held in all.
        var held = 65_536
        /// Files of one user that may wait; more are rejected.
        var filesPerUser = 50_000
        /// Bytes of one user's files that may wait; more are rejected.
        var bytesPerUser = 256 << 20
        /// The first and the longest pause of a user whose file could not be taken in, milliseconds.
        var pauseMilliseconds: ClosedRange<Int64> = 1_000...60_000
    }

    /// What becomes of a name.
    enum Verdict: Equatable {
        case held
        /// It stays in the folder until a later listing.
        case left
        /// Its owner has too much in the spool.
        case overShare
    }

    private struct User {
        var entries: [SpoolEntry] = []
        var bytes = 0
        /// Files that stay in the folder, and their bytes.
        var left = 0
        var leftBytes = 0
        var underway = 0
        var failures = 0
        var pausedUntil: Int64 = 0
        var reason: String?

        var isOver: Bool { entries.isEmpty && left == 0 && underway == 0 }

        mutating func leave(_ entry: SpoolEntry) {
            left += 1
            leftBytes += entry.bytes
        }
    }

    private let limits: Limits
    private var users: [UInt32: User] = [:]
    private var turns: [UInt32] = []
    private var held = 0
    private var underway: Set<SpoolEntry> = []

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Files that wait, as far as they are known.
    var waiting: Int { underway.count + users.values.reduce(0) { $0 + $1.entries.count + $1.left } }

    /// Why each user's files wait that could not be taken in.
    var reasons: [UInt32: String] { users.compactMapValues { $0.isOver ? nil : $0.reason } }

    /// Whether the folder has to be listed again, because names that are not held come next.
    var isListingNeeded: Bool {
        held <= limits.held / 2 && users.values.contains { $0.left > 0 && $0.entries.isEmpty }
    }

    /// A listing begins, which finds everything that is there.
    mutating func listingBegins() {
        for uid in users.keys {
            users[uid]?.left = 0
            users[uid]?.leftBytes = 0
        }
    }

    /// Takes note of a file.
    mutating func add(_ entry: SpoolEntry) -> Verdict {
        guard !underway.contains(entry) else { return .held }
        var user = users[entry.uid] ?? User()
        let place = user.entries.partitioningIndex { !$0.precedes(entry) }
        if place < user.entries.count, user.entries[place].name == entry.name,
            user.entries[place].isTaken == entry.isTaken
        {
            return .held
        }
        let isOverShare =
            user.entries.count + user.left >= limits.filesPerUser
            || user.bytes + user.leftBytes + entry.bytes > limits.bytesPerUser
        if isOverShare, !entry.isTaken { return .overShare }
        if users[entry.uid] == nil { turns.append(entry.uid) }
        defer { users[entry.uid] = user }
        // What the daemon took is no longer where a listing would find it.
        if !entry.isTaken, user.entries.count >= limits.heldPerUser || held >= limits.held {
            guard place < user.entries.count, let last = user.entries.last, !last.isTaken else {
                user.leave(entry)
                return .left
            }
            user.entries.removeLast()
            user.bytes -= last.bytes
            user.leave(last)
            held -= 1
        }
        user.entries.insert(entry, at: min(place, user.entries.count))
        user.bytes += entry.bytes
        held += 1
        return .held
    }

    /// The next files, at most `limit`: of each user whose turn it is one after the other.
    mutating func next(limit: Int, nowMilliseconds now: Int64) -> [SpoolEntry] {
        var result: [SpoolEntry] = []
        var skipped = 0
        while result.count < limit, skipped < turns.count {
            let uid = turns.removeFirst()
            guard var user = users[uid] else { continue }
            if user.isOver {
                users[uid] = nil
                continue
            }
            turns.append(uid)
            guard user.pausedUntil <= now, !user.entries.isEmpty else {
                skipped += 1
                continue
            }
            skipped = 0
            let entry = user.entries.removeFirst()
            user.bytes -= entry.bytes
            user.underway += 1
            users[uid] = user
            held -= 1
            underway.insert(entry)
            result.append(entry)
        }
        return result
    }

    /// A file is through: recorded, or else rejected or gone.
    mutating func finished(_ entry: SpoolEntry, isRecorded: Bool) {
        end(entry)
        guard isRecorded else { return }
        users[entry.uid]?.failures = 0
        users[entry.uid]?.reason = nil
    }

    private mutating func end(_ entry: SpoolEntry) {
        guard underway.remove(entry) != nil else { return }
        users[entry.uid]?.underway -= 1
    }

    /// A file cannot be taken in now; `current` is where it is by now, and its owner's other files wait with it.
    mutating func postponed(
        _ entry: SpoolEntry, now current: SpoolEntry, because reason: String, nowMilliseconds now: Int64
    ) {
        end(entry)
        _ = add(current)
        guard var user = users[entry.uid] else { return }
        user.reason = reason
        // What was tried together with it failed for the same reason, and makes the pause no longer.
        if user.pausedUntil <= now {
            let pause = limits.pauseMilliseconds.lowerBound << min(user.failures, 16)
            user.pausedUntil = now + min(pause, limits.pauseMilliseconds.upperBound)
            user.failures += 1
        }
        users[entry.uid] = user
    }

    /// When somebody's pause ends; nil where nobody waits for that.
    func nextTry(nowMilliseconds now: Int64) -> Int64? {
        users.values.filter { $0.pausedUntil > now && !$0.isOver }.map(\.pausedUntil).min()
    }
}

extension Array {
    /// The index of the first element for which `isInSecondPart` holds, where it holds for all after it.
    fileprivate func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
