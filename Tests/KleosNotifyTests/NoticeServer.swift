import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire
import Synchronization

/// The part of a daemon that hands out notices.
final class NoticeServer: Sendable {
    private struct State {
        var offered: [NoticeRow] = []
        var acknowledged: [Int64] = []
    }

    private let state = Mutex(State())

    /// Notices are offered until they are acknowledged.
    func offer(_ rows: [NoticeRow]) {
        state.withLock { $0.offered += rows }
    }

    var acknowledged: [Int64] { state.withLock { $0.acknowledged } }

    func answer(_ method: Method, _ parameters: JSONObject) -> Result<JSONValue, RPCError> {
        switch method {
        case .subscribe: .success([:])
        case .claimNotices: .success(NoticesAnswer(notices: state.withLock { $0.offered }).json)
        case .acknowledgeNotices: .success(acknowledge(parameters["numbers"]?.arrayValue ?? []))
        default: .failure(RPCError(.unknownMethod, "not in this script"))
        }
    }

    private func acknowledge(_ numbers: [JSONValue]) -> JSONValue {
        let numbers = numbers.compactMap(\.int64Value)
        state.withLock { state in
            state.acknowledged += numbers
            state.offered.removeAll { numbers.contains($0.number) }
        }
        return ["acknowledged": .integer(numbers.count)]
    }

    /// A notice of an unlocked achievement, or of a score where `value` is given.
    static func row(_ number: Int64, _ item: String, game: Game, value: Int64? = nil, created: Int64) -> NoticeRow {
        let facts = NoticeFacts(
            kind: value == nil ? .achievement : .score, item: item, value: value.map { ScoreValue(units: $0) },
            rank: value.map { _ in 3 }, changed: true)
        let notice = Notice(
            number: number, key: EventKey(high: UInt64(created) << 16 | 0x7000, low: UInt64(number)), game: game.id,
            player: "ada", uid: 0, facts: facts, createdMilliseconds: created)
        return NoticeRow(notice, text: NoticeText.text(for: facts, gameID: game.id, game: game, locale: nil))
    }
}
