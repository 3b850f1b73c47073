import KleosModel
package import KleosSupport

/// What an operator asks of deliveries.
enum OperatorVerb {
    case retry
    case hold
    case release
    case discard

    /// The states that the verb is for; others stay as they are.
    var states: Set<DeliveryState> {
        switch self {
        case .retry: [.dead]
        case .hold: [.waiting, .ready, .sending]
        case .release: [.held]
        case .discard: [.waiting, .ready, .sending, .held, .dead]
        }
    }
}

extension Outbox {
    /// Sends dead deliveries again, whatever their age. One step; go on with the report's cursor.
    package func retry(
        _ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading
    ) throws(StoreError) -> OperationReport {
        try operate(.retry, selection, cursor, now)
    }

    /// Stops deliveries until they are released; one in flight once it returns. One step, as `retry`.
    package func hold(
        _ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading
    ) throws(StoreError) -> OperationReport {
        try operate(.hold, selection, cursor, now)
    }

    /// Lets held deliveries go on. One step, as `retry`.
    package func release(
        _ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading
    ) throws(StoreError) -> OperationReport {
        try operate(.release, selection, cursor, now)
    }

    /// Throws deliveries away; one in flight unless it is confirmed. One step, as `retry`.
    package func discard(
        _ selection: DeliverySelection, after cursor: String? = nil, now: ClockReading
    ) throws(StoreError) -> OperationReport {
        try operate(.discard, selection, cursor, now)
    }

    private func operate(
        _ verb: OperatorVerb, _ selection: DeliverySelection, _ cursor: String?, _ now: ClockReading
    ) throws(StoreError) -> OperationReport {
        var report = OperationReport()
        switch selection {
        case .keys(let keys, let endpoint):
            let start = min(keys.count, Int(clamping: try Self.number(of: cursor) ?? 0))
            let end = min(keys.count, start + Self.stepDeliveries)
            for key in keys[start..<end] { try operate(verb, key, endpoint, &report, now) }
            if end < keys.count { report.cursor = String(end) }
        case .filter(var filter):
            filter.states = filter.states.isEmpty ? verb.states : filter.states.intersection(verb.states)
            if filter.states.isEmpty { return report }
            let page = try scan(filter, visibleTo: nil, cursor: cursor, limit: Self.stepDeliveries)
            for found in page.found {
                // Read again, because an earlier one of the step may have replaced it.
                guard let row = try deliveries.row(found.id), filter.states.contains(row.state) else { continue }
                try apply(verb, row, &report, now)
            }
            report.cursor = page.cursor
        }
        return report
    }

    private func operate(
        _ verb: OperatorVerb, _ key: EventKey, _ endpoint: String?, _ report: inout OperationReport,
        _ now: ClockReading
    ) throws(StoreError) {
        var rows =
            try events.number(of: key).map { (number) throws(StoreError) in
                try deliveries.rows(ofEvent: number)
            } ?? []
        if let endpoint {
            let id = try endpoints.id(endpoint)
            rows.removeAll { $0.id.endpoint != id }
        }
        if rows.isEmpty {
            let reason = endpoint.map { "no such event, or none of its deliveries goes to \($0)" } ?? "no such event"
            report.unchanged.append(.init(key: key, endpoint: endpoint, reason: reason))
        }
        for found in rows {
            // Read again, because the stream of an earlier one may have moved it.
            guard let row = try deliveries.row(found.id) else { continue }
            try apply(verb, row, &report, now)
        }
    }

    private func apply(
        _ verb: OperatorVerb, _ row: DeliveryRow, _ report: inout OperationReport, _ now: ClockReading
    ) throws(StoreError) {
        if let reason = try reasonAgainst(verb, row) {
            report.unchanged.append(
                .init(key: row.key, endpoint: try endpoints.name(row.id.endpoint), reason: reason))
            return
        }
        var row = row
        report.changed += 1
        switch verb {
        case .retry:
            row.ignoresAge = true
            row.serverErrors = 0
            row.inherited = -row.attempts
            try move(&row, to: .waiting, now: now)
        case .release: try move(&row, to: .waiting, now: now)
        case .hold, .discard:
            if row.state == .sending {
                row.pending = verb == .hold ? .hold : .discard
                return try write(&row, from: .sending)
            }
            if verb == .discard {
                return try giveUp(&row, as: .discarded, reason: nil, message: nil, now: now)
            }
            try move(&row, to: .held, reason: .operatorHold, now: now)
        }
        try settleStream(after: row, now: now)
        if row.isOrdered { try refreshPendingMark(of: row.stream) }
    }

    private func reasonAgainst(_ verb: OperatorVerb, _ row: DeliveryRow) throws(StoreError) -> String? {
        guard verb.states.contains(row.state) else { return "it is \(row.state.rawValue)" }
        let isOthers = try isCopied(row.event.number)
        if verb == .retry || verb == .release, isOthers || row.reason == .clone {
            return "the outbox came from another machine; adopt or reset it first"
        }
        switch (verb, row.state, row.reason) {
        case (.release, _, .unconfigured): return "its game or endpoint is not in the configuration"
        case (.hold, .sending, _) where row.pending == .discard: return "it is being discarded"
        default: return nil
        }
    }
}
