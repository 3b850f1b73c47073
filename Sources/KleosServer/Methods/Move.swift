import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// export, import: a queue on its way to another machine.

/// Where an export goes on: in events, standings or notices.
private struct ExportPlace {
    enum Part: String {
        case events = "e"
        case standings = "s"
        case notices = "n"
        /// All lines are there; once they are safe, what they hold is given away.
        case end = "f"
    }

    var part: Part
    /// The last number that was looked at.
    var after: Int64
    /// The newest event when the export began.
    var end: Int64

    init(part: Part, after: Int64, end: Int64) {
        self.part = part
        self.after = after
        self.end = end
    }

    init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 3, let part = Part(rawValue: String(parts[0])), let after = Int64(parts[1]),
            let end = Int64(parts[2])
        else { return nil }
        self.init(part: part, after: after, end: end)
    }

    var text: String { "\(part.rawValue):\(after):\(end)" }
}

extension Server {
    func exportEvents(_ parameters: ExportParameters, _ token: ReplyToken) throws(RPCError) {
        guard let cursor = parameters.cursor else {
            return ask(token) { outbox throws(StoreError) in
                try outbox.lastEvent()
            } encode: { _, last in
                let place = ExportPlace(part: .events, after: 0, end: last)
                return .success(ExportAnswer(lines: [], cursor: place.text, done: 0, total: last).json)
            }
        }
        guard let place = ExportPlace(cursor) else {
            throw RPCError(
                .invalidParameter, "cursor must be one that an earlier answer brought", field: "cursor")
        }
        exportPage(place, isHeld: parameters.isHeld, token)
    }

    private struct Page: Sendable {
        var lines: [JSONValue]
        var next: ExportPlace?
        var isInFlight = false
    }

    private func exportPage(_ place: ExportPlace, isHeld: Bool, _ token: ReplyToken) {
        let now = clock.read()
        store.perform(lane: token.lane) { outbox throws(StoreError) in
            try Self.page(place, isHeld: isHeld, outbox, now: now)
        } then: { [self] result in
            self.async { server in
                switch result {
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                case .success(let page):
                    if page.isInFlight, page.lines.isEmpty {
                        return server.later { $0.exportPage(place, isHeld: isHeld, token) }
                    }
                    let done = page.next?.part == .events ? page.next?.after ?? 0 : place.end
                    let answer = ExportAnswer(
                        lines: page.lines, cursor: page.next?.text, isWhole: page.next?.part ?? .end == .end,
                        done: done, total: place.end)
                    server.reply(token, .success(answer.json))
                }
            }
        }
    }

    private static func page(
        _ place: ExportPlace, isHeld: Bool, _ outbox: Outbox, now: ClockReading
    ) throws(StoreError) -> Page {
        func next(_ part: ExportPlace.Part, _ after: Int64) -> ExportPlace {
            ExportPlace(part: part, after: after, end: place.end)
        }
        switch place.part {
        case .events:
            let found = try outbox.export(after: place.after, upTo: place.end, isHeld: isHeld, now: now)
            let isOver = found.last >= place.end && !found.isInFlight
            return Page(
                lines: found.events.map(MovedEvent.json),
                next: isOver ? next(.standings, 0) : next(.events, found.last),
                isInFlight: found.isInFlight)
        case .standings:
            let found = try outbox.exportStandings(after: place.after)
            return Page(
                lines: found.standings.map(MovedRest.json),
                next: found.last.map { next(.standings, $0) } ?? next(.notices, 0))
        case .notices:
            let found = try outbox.exportNotices(after: place.after)
            let end = isHeld ? next(.end, found.notices.last?.number ?? place.after) : nil
            return Page(lines: found.notices.map(MovedRest.json), next: found.last.map { next(.notices, $0) } ?? end)
        case .end:
            let hasMore = try outbox.finishExport(upToNotice: place.after, now: now)
            return Page(lines: [], next: hasMore ? place : nil)
        }
    }

    func importEvents(_ parameters: ImportParameters, _ token: ReplyToken) throws(RPCError) {
        var events: [SalvagedEvent] = []
        var standings: [SalvagedStanding] = []
        var notices: [Notice] = []
        for line in parameters.lines {
            if let event = MovedEvent.read(line) {
                events.append(event)
            } else if let standing = MovedRest.standing(line) {
                standings.append(standing)
            } else if let notice = MovedRest.notice(line) {
                notices.append(notice)
            } else {
                throw RPCError(
                    .invalidParameter, "a line is none of an export: \(Self.excerpt(line.serialized))", field: "lines")
            }
        }
        let policy = SalvagePolicy(games: settings.games, endpoints: settings.endpoints)
        let (found, marks, words, isHeld, now) = (events, standings, notices, parameters.isHeld, clock.read())
        ask(token) { outbox throws(StoreError) in
            for mark in marks { try outbox.bring(mark) }
            let answer = try Self.bring(found, policy, isHeld: isHeld, outbox, now: now)
            for notice in words { try outbox.bring(notice) }
            return answer
        } encode: { _, answer in
            .success(answer.json)
        }
    }

    private static func bring(
        _ events: [SalvagedEvent], _ policy: SalvagePolicy, isHeld: Bool, _ outbox: Outbox, now: ClockReading
    ) throws(StoreError) -> ImportAnswer {
        var answer = ImportAnswer()
        for event in events {
            switch try outbox.bring(event, policy: policy, isDamaged: false, isTrusted: isHeld, now: now) {
            case .brought: answer.brought += 1
            case .known: answer.known += 1
            case .aimless: answer.aimless += 1
            case .full(let reason):
                throw StoreError(
                    .full, operation: "import", message: "\(reason); make room and import the same file again")
            }
        }
        return answer
    }
}
