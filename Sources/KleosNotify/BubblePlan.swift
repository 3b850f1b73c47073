import KleosModel
package import KleosWire

/// Which bubble shows a presentation: a new one, or the last one of a burst again with more in it. Pure.
package struct BubblePlan: Sendable {
    /// Bubbles of one game within `burstMilliseconds`; what comes then goes into the last of them.
    package var maximumBubbles: Int
    package var burstMilliseconds: Int64
    private var shown: [String: [Shown]] = [:]

    private struct Shown {
        let id: UInt32
        let atMilliseconds: Int64
        let rows: [NoticeRow]
    }

    /// Makes a plan; by default the fourth bubble within ten seconds is the third again.
    package init(maximumBubbles: Int = 3, burstMilliseconds: Int64 = 10_000) {
        self.maximumBubbles = max(1, maximumBubbles)
        self.burstMilliseconds = burstMilliseconds
    }

    /// What to show.
    package struct Bubble: Sendable, Equatable {
        package var notification: DesktopNotification
        /// The bubble that this one takes the place of.
        package var replaces: UInt32?
        /// What the bubble tells about, what it replaces included.
        package var rows: [NoticeRow]
    }

    /// The bubble for `presentation` at `nowMilliseconds` (of any clock that goes forward).
    package mutating func bubble(for presentation: NoticePlan.Presentation, nowMilliseconds: Int64) -> Bubble {
        let rows = presentation.notices
        let game = rows.first?.game ?? ""
        let recent = (shown[game] ?? []).filter { nowMilliseconds - $0.atMilliseconds < burstMilliseconds }
        shown[game] = recent.isEmpty ? nil : recent
        guard recent.count >= maximumBubbles, let last = recent.last else {
            switch presentation {
            case .single(let row): return Bubble(notification: Self.single(row), replaces: nil, rows: rows)
            case .digest:
                return Bubble(notification: Self.digest(rows, isLate: true), replaces: nil, rows: rows)
            }
        }
        let all = last.rows + rows
        return Bubble(notification: Self.digest(all, isLate: false), replaces: last.id, rows: all)
    }

    /// Records that `bubble` is shown as `id`.
    package mutating func didShow(_ bubble: Bubble, as id: UInt32, nowMilliseconds: Int64) {
        guard let game = bubble.rows.first?.game else { return }
        var recent = shown[game] ?? []
        if let replaced = bubble.replaces { recent.removeAll { $0.id == replaced } }
        recent.append(Shown(id: id, atMilliseconds: nowMilliseconds, rows: bubble.rows))
        shown[game] = recent
    }

    private static func single(_ row: NoticeRow) -> DesktopNotification {
        let text = NoticeText(
            title: row.title, body: row.body, gameTitle: row.gameTitle, itemTitle: row.itemTitle,
            openLabel: row.openLabel)
        return DesktopNotification(text: text, kind: row.kind)
    }

    private static func digest(_ rows: [NoticeRow], isLate: Bool) -> DesktopNotification {
        let achievements = rows.filter { $0.kind == .achievement }.map(\.itemTitle)
        var text = NoticeText.digest(
            achievements: achievements, scores: rows.count - achievements.count,
            gameTitle: rows.first?.gameTitle ?? "", isLate: isLate)
        // A click leads to what the last of them was about.
        text.openLabel = rows.last?.openLabel
        return DesktopNotification(text: text, kind: nil)
    }
}
