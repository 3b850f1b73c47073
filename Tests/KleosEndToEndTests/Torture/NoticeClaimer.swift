import KleosClient
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// A route that shows notices, and dies at any step of it.
struct NoticeClaimer {
    private let route: String
    private let path: String
    private let ledger: TortureLedger
    private let isConfirmed: @Sendable (_ key: String, _ game: String) -> Bool
    private var random: SeededGenerator

    init(
        route: String, path: String, ledger: TortureLedger, seed: UInt64,
        isConfirmed: @escaping @Sendable (_ key: String, _ game: String) -> Bool
    ) {
        self.route = route
        self.path = path
        self.ledger = ledger
        self.isConfirmed = isConfirmed
        random = SeededGenerator(seed: seed)
    }

    /// Claims and shows until the ledger says that it is over.
    mutating func run() {
        while !ledger.isOver {
            let starts = ledger.monitor.read(\.starts)
            do throws(SystemError) {
                try live(on: try KleosConnection(path: path))
            } catch {
                _ = ledger.monitor.wait(milliseconds: 100) { $0.starts != starts || $0.isOver }
            }
        }
    }

    /// Claims what there is, without dying; returns how many. Throws `ConnectionError`.
    mutating func takeAll() throws -> Int {
        let connection = try KleosConnection(path: path)
        var count = 0
        while true {
            let notices = try claim(connection)
            if notices.isEmpty { return count }
            count += notices.count
            try acknowledge(notices, connection)
        }
    }

    private mutating func live(on connection: KleosConnection) throws(SystemError) {
        do throws(ConnectionError) {
            _ = try connection.request(.subscribe, SubscribeParameters(topics: [.notices]).parameters)
            while !ledger.isOver {
                if dies() { return }
                let notices = try claim(connection)
                if dies() { return }
                if notices.isEmpty {
                    _ = try connection.nextNotification(timeoutMilliseconds: 200)
                } else {
                    try acknowledge(notices, connection)
                }
            }
        } catch {
            if case .refused(let reason) = error { ledger.problem("\(route): refused: \(reason)") }
        }
    }

    private mutating func dies() -> Bool {
        guard Int.random(in: 0..<15, using: &random) == 0 else { return false }
        ledger.monitor.change { $0.claimerKills += 1 }
        return true
    }

    private mutating func claim(_ connection: KleosConnection) throws(ConnectionError) -> [NoticeRow] {
        let moment = ledger.monitor.change { state in
            state.moment += 1
            return state.moment
        }
        let limit = Int.random(in: 1...20, using: &random)
        let value = try connection.request(
            .claimNotices, ClaimNoticesParameters(route: route, limit: limit).parameters, timeoutMilliseconds: nil)
        let notices = NoticesAnswer(json: value).notices
        for notice in notices {
            let key = notice.key.description
            if !isConfirmed(key, notice.game) { ledger.problem("notice \(notice.number) of \(key) came too early") }
            ledger.monitor.change { state in
                guard let shown = state.shown[notice.number], shown < moment else { return }
                state.problems.append("notice \(notice.number) was shown, and handed out again")
            }
        }
        return notices
    }

    private func acknowledge(_ notices: [NoticeRow], _ connection: KleosConnection) throws(ConnectionError) {
        let parameters = AcknowledgeNoticesParameters(route: route, numbers: notices.map(\.number))
        _ = try connection.request(.acknowledgeNotices, parameters.parameters, timeoutMilliseconds: nil)
        ledger.monitor.change { state in
            state.moment += 1
            for notice in notices where state.shown[notice.number] == nil {
                state.shown[notice.number] = state.moment
            }
        }
    }
}
