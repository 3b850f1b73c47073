import KleosModel
package import KleosWire

/// How pending notices are put together for showing. Pure.
package struct NoticePlan: Sendable {
    /// More pending notices of one game than this make one digest.
    package var maximumSingle: Int
    /// Notices of events older than this are put into a digest, in milliseconds; nil for never.
    package var digestAfterMilliseconds: Int64?

    /// Makes a plan; by default five notices are shown one by one, however old they are.
    package init(maximumSingle: Int = 5, digestAfterMilliseconds: Int64? = nil) {
        self.maximumSingle = maximumSingle
        self.digestAfterMilliseconds = digestAfterMilliseconds
    }

    /// One thing to show.
    package enum Presentation: Sendable, Equatable {
        case single(NoticeRow)
        /// At least two notices, all of one game.
        case digest(game: String, [NoticeRow])

        /// The notices that count as shown with it.
        package var notices: [NoticeRow] {
            switch self {
            case .single(let notice): [notice]
            case .digest(_, let notices): notices
            }
        }
    }

    /// What to show for `pending` at `nowMilliseconds` (Unix time), games in the order of their oldest notice.
    package func presentations(of pending: [NoticeRow], nowMilliseconds: Int64) -> [Presentation] {
        var order: [String] = []
        var byGame: [String: [NoticeRow]] = [:]
        for notice in pending.sorted(by: { $0.number < $1.number }) {
            if byGame[notice.game] == nil { order.append(notice.game) }
            byGame[notice.game, default: []].append(notice)
        }
        return order.flatMap { game in split(byGame[game] ?? [], game: game, nowMilliseconds: nowMilliseconds) }
    }

    private func split(_ notices: [NoticeRow], game: String, nowMilliseconds: Int64) -> [Presentation] {
        if notices.count > max(1, maximumSingle) { return [.digest(game: game, notices)] }
        guard let digestAfterMilliseconds else { return notices.map(Presentation.single) }
        let old = notices.filter { nowMilliseconds - $0.key.wallMilliseconds > digestAfterMilliseconds }
        guard old.count > 1 else { return notices.map(Presentation.single) }
        let recent = notices.filter { nowMilliseconds - $0.key.wallMilliseconds <= digestAfterMilliseconds }
        return [.digest(game: game, old)] + recent.map(Presentation.single)
    }
}
