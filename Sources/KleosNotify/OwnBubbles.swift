/// Which of the desktop's notifications are this agent's own. Pure.
///
/// A notification service tells everybody of every click, and its numbers begin anew when it restarts: a number means
/// one of ours only as long as the service that gave it runs.
struct OwnBubbles {
    private var ids: Set<UInt32> = []
    private var tokens: [UInt32: String] = [:]

    /// Numbers that are remembered; the lowest, and so the oldest, are forgotten first.
    static let maximumIDs = 1_000

    /// The service shows a notification of ours as `id`.
    mutating func didShow(_ id: UInt32) {
        ids.insert(id)
        while ids.count > Self.maximumIDs, let oldest = ids.min() { forget(oldest) }
    }

    /// Whether `id` is one of ours.
    func contains(_ id: UInt32) -> Bool { ids.contains(id) }

    /// The service gave a token for the click that comes next.
    mutating func take(token: String, of id: UInt32) {
        if ids.contains(id) { tokens[id] = token }
    }

    /// The click on `id`; nil where that is somebody else's.
    mutating func click(_ id: UInt32) -> DesktopClick? {
        let token = tokens.removeValue(forKey: id)
        return ids.contains(id) ? DesktopClick(id: id, activationToken: token) : nil
    }

    /// Another service runs, or none.
    mutating func forgetAll() {
        self = OwnBubbles()
    }

    private mutating func forget(_ id: UInt32) {
        ids.remove(id)
        tokens[id] = nil
    }
}
