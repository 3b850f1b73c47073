package import KleosClient
import KleosJSON
import KleosModel
package import KleosSupport
import KleosWire

/// Takes notices from one daemon and shows them, for as long as the connection lasts.
package struct NoticePresenter {
    private var plan: NoticePlan
    private var bubbles = BubblePlan()
    private let clock: any Clock
    private let log: Log
    /// The language of the words, in POSIX form.
    private let locale: String?
    /// Claimed, and not shown yet, by number.
    private var pending: [Int64: NoticeRow] = [:]
    /// Shown, and perhaps not acknowledged: a daemon that restarts offers them again.
    private let shown: ShownNotices
    /// What a click on a bubble opens, by the bubble's id.
    private var onScreen: [UInt32: NoticeRow] = [:]
    private var display: (any NoticeDisplay)?
    private let makeDisplay: () throws(DesktopError) -> any NoticeDisplay
    private var displayRetry = RetryDelay(firstMilliseconds: 1_000, maximumMilliseconds: 300_000)

    /// The name of the route that bubbles on the desktop are.
    package static let route = "desktop"

    /// Makes a presenter; `makeDisplay` is called when there is something to show, and again after a failure.
    package init(
        plan: NoticePlan = NoticePlan(), clock: any Clock, log: Log, locale: String?, shown: ShownNotices? = nil,
        makeDisplay: @escaping () throws(DesktopError) -> any NoticeDisplay
    ) {
        self.plan = plan
        self.clock = clock
        self.log = log
        self.locale = locale
        self.shown = shown ?? ShownNotices(path: nil, log: log)
        self.makeDisplay = makeDisplay
    }

    /// Shows what is pending and what comes, until the connection ends. Throws `ConnectionError`.
    package mutating func run(_ connection: KleosConnection) throws(ConnectionError) -> Never {
        pending = [:]
        _ = try connection.request(.subscribe, SubscribeParameters(topics: [.notices]).parameters)
        while true {
            if !openDisplay() {
                // Nothing is claimed meanwhile, so that other routes may.
                try pause(connection, milliseconds: displayRetry.next())
                continue
            }
            let count = try claim(connection)
            if !pending.isEmpty, try !showPending(connection) { continue }
            if count == 0 { try waitForNews(connection) }
        }
    }

    private mutating func openDisplay() -> Bool {
        if display != nil { return true }
        do throws(DesktopError) {
            display = try makeDisplay()
            if displayRetry.hasFailed { log(.info, "notices can be shown again") }
            displayRetry.reset()
            return true
        } catch {
            if !displayRetry.hasFailed { log(.warning, "notices wait: \(error)") }
            return false
        }
    }

    private func pause(_ connection: KleosConnection, milliseconds: Int64) throws(ConnectionError) {
        // Notifications are read, so that the daemon never finds a full socket.
        let end = clock.read().monotonicMilliseconds + milliseconds
        while true {
            let remaining = end - clock.read().monotonicMilliseconds
            guard remaining > 0 else { return }
            guard try connection.nextNotification(timeoutMilliseconds: remaining) != nil else { return }
        }
    }

    /// Claims notices and returns how many there were.
    private mutating func claim(_ connection: KleosConnection) throws(ConnectionError) -> Int {
        let parameters = ClaimNoticesParameters(route: Self.route, limit: 100, locale: locale).parameters
        let answer = NoticesAnswer(json: try connection.request(.claimNotices, parameters))
        plan.digestAfterMilliseconds = answer.digestAfterMilliseconds
        let rows = answer.notices
        let known = rows.filter { shown.contains($0.key) }
        // Before they are acknowledged, and so forgotten here.
        for row in rows where !shown.contains(row.key) { pending[row.number] = row }
        if !known.isEmpty { try acknowledge(known, connection) }
        return rows.count
    }

    /// Shows what is pending and acknowledges it; false where the notification service went away.
    private mutating func showPending(_ connection: KleosConnection) throws(ConnectionError) -> Bool {
        let now = clock.read()
        let rows = Array(pending.values)
        for presentation in plan.presentations(of: rows, nowMilliseconds: now.wallMilliseconds) {
            guard let display else { return false }
            let bubble = bubbles.bubble(for: presentation, nowMilliseconds: now.monotonicMilliseconds)
            do throws(DesktopError) {
                let id = try display.show(bubble.notification, replacing: bubble.replaces)
                // First of all, since from here on a crash must not show it again.
                for row in presentation.notices { shown.insert(row.key) }
                bubbles.didShow(bubble, as: id, nowMilliseconds: now.monotonicMilliseconds)
                remember(bubble.rows.last, as: id)
            } catch {
                log(.warning, "a notice waits: \(error)")
                guard case .refused = error else {
                    self.display = nil
                    return false
                }
                // This one is claimed again when its claim lapses; the others go on.
                for row in presentation.notices { pending[row.number] = nil }
                continue
            }
            for row in presentation.notices { pending[row.number] = nil }
            try acknowledge(presentation.notices, connection)
        }
        return true
    }

    private mutating func acknowledge(_ rows: [NoticeRow], _ connection: KleosConnection) throws(ConnectionError) {
        let numbers = rows.map(\.number)
        let parameters = AcknowledgeNoticesParameters(route: Self.route, numbers: numbers).parameters
        _ = try connection.request(.acknowledgeNotices, parameters)
        shown.remove(rows.map(\.key))
    }

    // MARK: - Clicks

    /// Bubbles whose clicks are understood.
    private static let maximumOnScreen = 200

    private mutating func remember(_ row: NoticeRow?, as id: UInt32) {
        onScreen[id] = row
        while onScreen.count > Self.maximumOnScreen,
            let oldest = onScreen.min(by: { $0.value.number < $1.value.number })
        {
            onScreen[oldest.key] = nil
        }
    }

    /// Opens the games of the bubbles that were clicked.
    private mutating func followClicks(_ connection: KleosConnection) throws(ConnectionError) {
        let clicks: [DesktopClick]
        do throws(DesktopError) {
            clicks = try display?.takeClicks() ?? []
        } catch {
            log(.warning, "the notification service went away: \(error)")
            display = nil
            return
        }
        for click in clicks {
            guard let row = onScreen[click.id] else { continue }
            do throws(ConnectionError) {
                try open(row, click.activationToken, connection)
            } catch {
                guard case .refused(let refusal) = error else { throw error }
                log(.warning, "a notice cannot be followed: \(refusal)", ["notice": String(row.number)])
            }
        }
    }

    private func open(
        _ row: NoticeRow, _ activationToken: String?, _ connection: KleosConnection
    ) throws(ConnectionError) {
        let parameters = OpenNoticeParameters(number: row.number, activationToken: activationToken)
        let result = try connection.request(.openNotice, parameters.parameters)
        guard let answer = OpenNoticeAnswer(json: result) else { throw .malformed(result.serialized) }
        do throws(GameStarter.Failure) {
            let words = try GameStarter.follow(answer, activationToken: activationToken)
            log(.info, words, ["notice": String(row.number)])
        } catch {
            log(.warning, "a notice cannot be followed: \(error)", ["notice": String(row.number)])
        }
    }

    /// Waits until the daemon tells of a notice, and a little longer, because notices come in bursts.
    private mutating func waitForNews(_ connection: KleosConnection) throws(ConnectionError) {
        try followClicks(connection)
        guard connection.takeNotifications().isEmpty, let display else { return }
        // The daemon tells of everything that can be claimed, also of what another route gave up.
        try connection.wait(reading: display.descriptor)
        guard !connection.takeNotifications().isEmpty else { return }
        for _ in 0..<10 {
            guard try connection.nextNotification(timeoutMilliseconds: 150) != nil else { break }
        }
        _ = connection.takeNotifications()
    }
}

/// Growing delays between attempts.
package struct RetryDelay: Sendable {
    private let firstMilliseconds: Int64
    private let maximumMilliseconds: Int64
    private var failures = 0

    /// Makes delays that double from the first up to the maximum.
    package init(firstMilliseconds: Int64, maximumMilliseconds: Int64) {
        self.firstMilliseconds = firstMilliseconds
        self.maximumMilliseconds = maximumMilliseconds
    }

    /// Whether an attempt failed since the last success.
    package var hasFailed: Bool { failures > 0 }

    /// The delay after one more failure, in milliseconds.
    package mutating func next() -> Int64 {
        let doublings = min(failures, 30)
        failures += 1
        return min(maximumMilliseconds, firstMilliseconds << Int64(doublings))
    }

    /// Forgets all failures.
    package mutating func reset() {
        failures = 0
    }
}
