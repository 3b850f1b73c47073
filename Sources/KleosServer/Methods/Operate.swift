import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// retry, hold, release, discard: an operator's verbs on deliveries.

extension Server {
    /// Refusals told one by one in an answer; a verb on everything may have any number of them.
    private static let maximumUnchanged = 500

    func operate(
        _ verb: Method, _ parameters: OperateParameters, _ token: ReplyToken, _ connection: Connection,
        now: ClockReading
    ) {
        let selection: DeliverySelection =
            parameters.keys.isEmpty
            ? .filter(DeliveryFilter(parameters.criteria))
            : .keys(parameters.keys, endpoint: parameters.criteria.endpoint)
        step(verb, selection, after: nil, so: OperateAnswer(changed: 0, unchanged: []), token, now: now)
    }

    /// One transaction's worth of a verb; what remains is done in further ones, so that nobody waits long.
    private func step(
        _ verb: Method, _ selection: DeliverySelection, after cursor: String?, so far: OperateAnswer,
        _ token: ReplyToken, now: ClockReading
    ) {
        store.perform(lane: token.lane) { outbox throws(StoreError) in
            switch verb {
            case .retry: try outbox.retry(selection, after: cursor, now: now)
            case .hold: try outbox.hold(selection, after: cursor, now: now)
            case .release: try outbox.release(selection, after: cursor, now: now)
            default: try outbox.discard(selection, after: cursor, now: now)
            }
        } then: { [self] result in
            self.async { server in
                switch result {
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                case .success(let report):
                    let total = far.adding(report, limit: Self.maximumUnchanged)
                    if let next = report.cursor {
                        server.step(verb, selection, after: next, so: total, token, now: now)
                    } else {
                        server.log(
                            .notice, "an operator changed deliveries",
                            ["verb": verb.rawValue, "changed": String(total.changed), "uid": String(token.uid)])
                        server.reply(token, .success(total.json))
                    }
                }
            }
        }
    }
}

extension OperateAnswer {
    /// The sum of this and one more step; at most `limit` refusals are kept.
    fileprivate func adding(_ report: OperationReport, limit: Int) -> OperateAnswer {
        var total = self
        total.changed += report.changed
        let more = report.unchanged.prefix(max(0, limit - total.unchanged.count))
        total.unchanged += more.map { unchanged in
            let place = unchanged.endpoint.map { "\($0): " } ?? ""
            return Unchanged(key: unchanged.key, reason: place + unchanged.reason)
        }
        return total
    }
}
