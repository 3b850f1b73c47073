import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

extension Server {
    /// Users named to operators, those with the most.
    private static let largestUsers = 10

    /// Everybody may ask: it counts, and names no player and no event, and of the users only the one who asks. What a
    /// service said of its last failure may name a player or an event, so that operators alone are told.
    func status(_ token: ReplyToken, _ connection: Connection) {
        let isOperator = isOperator(connection.peer)
        let visible = connection.visibleUID
        hooks.endpointConditions { [self] all in
            let conditions = isOperator ? all : all.map(\.withoutWords)
            store.perform(lane: token.lane) { outbox throws(StoreError) in
                let users = try outbox.users(visibleTo: visible, limit: Self.largestUsers)
                return (try outbox.status(), try outbox.storage(), users)
            } then: { [self] result in
                self.async { server in
                    switch result {
                    case .success(let (counters, storage, users)):
                        var answer = server.statusAnswer(counters, storage, conditions)
                        answer.fault = server.settings.fault.map { isOperator ? $0.details : "" }
                        answer.users = users.map { UserRow(uid: $0.uid, usedBytes: $0.usedBytes) }
                        answer.spool = server.spoolStatus(visibleTo: visible)
                        if isOperator { answer.setAside = server.setAsideQueues() }
                        server.reply(token, .success(answer.json))
                    case .failure(let error): server.reply(token, .failure(server.failure(error)))
                    }
                }
            }
        }
    }

    private func statusAnswer(
        _ counters: OutboxCounters, _ storage: StorageReport, _ conditions: [EndpointCondition]
    ) -> StatusAnswer {
        var counts: [DeliveryState: Int] = [:]
        for endpoint in counters.endpoints { counts.merge(endpoint.counts, uniquingKeysWith: +) }
        let byName = Dictionary(counters.endpoints.map { ($0.name, $0) }) { first, _ in first }
        let configured = Set(conditions.map(\.name))
        var rows = conditions.map { EndpointRow($0, counters: byName[$0.name]) }
        for endpoint in counters.endpoints where !configured.contains(endpoint.name) && endpoint.hasUnsettled {
            let condition = EndpointCondition(
                name: endpoint.name, url: "", kind: .paused, cause: .unconfigured,
                reason: "it is not in the configuration")
            rows.append(EndpointRow(condition, counters: endpoint))
        }
        var answer = StatusAnswer(
            uptimeSeconds: (clock.read().bootMilliseconds - startedMilliseconds) / 1_000, path: storage.path,
            usedBytes: storage.usedBytes, limitBytes: storage.limitBytes, freeBytes: storage.freeBytes,
            floorBytes: storage.floorBytes, userLimitBytes: storage.userLimitBytes, isAccepting: storage.isAccepting,
            counts: counts,
            endpoints: rows.sorted { $0.name < $1.name }, pendingNotices: counters.pendingNotices)
        let now = clock.read()
        answer.machine = MachineRow(
            timeMilliseconds: now.wallMilliseconds, isClockSynchronized: now.isSynchronized,
            latestRecordedMilliseconds: counters.latestRecordedMilliseconds, hasNetwork: hooks.hasNetwork(),
            isClone: storage.isClone)
        answer.machine.isKnown = storage.isMachineKnown
        answer.forgottenEvents = counters.forgottenEvents
        answer.removedDead = counters.removedDead
        answer.removedReceipts = counters.removedReceipts
        return answer
    }

    /// Queues that a damaged disk or a restore left in the daemon's folder.
    private func setAsideQueues() -> [String] {
        do throws(StoreError) {
            return try Salvage.names(in: store.directory)
        } catch {
            log(.warning, "queues that were set aside cannot be listed: \(error)")
            return []
        }
    }
}

extension EndpointCondition {
    /// The condition without what others wrote about it, and without the names of players and boards.
    var withoutWords: EndpointCondition {
        var condition = self
        for index in condition.partialThrottles.indices {
            condition.partialThrottles[index].name = nil
            condition.partialThrottles[index].game = nil
        }
        condition.reason = nil
        condition.lastError = nil
        return condition
    }
}

extension OutboxCounters.Endpoint {
    /// waiting, ready, sending and held.
    var undelivered: Int { counts.reduce(0) { $0 + ($1.key.isUnsettled ? $1.value : 0) } }

    /// Whether there is something that an administrator may have to look after.
    var hasUnsettled: Bool { undelivered > 0 || (counts[.dead] ?? 0) > 0 }
}

extension EndpointRow {
    /// An endpoint as `status` and subscribers see it.
    init(_ condition: EndpointCondition, counters: OutboxCounters.Endpoint?) {
        self.init(
            name: condition.name, url: condition.url, condition: condition.kind.rawValue,
            cause: condition.cause?.rawValue,
            reason: condition.reason,
            sinceMilliseconds: condition.sinceMilliseconds, lastSuccessMilliseconds: condition.lastSuccessMilliseconds,
            lastError: condition.lastError, nextProbeMilliseconds: condition.nextProbeMilliseconds,
            throttledUntilMilliseconds: condition.throttledUntilMilliseconds, inFlight: condition.inFlight,
            undelivered: counters?.undelivered ?? 0, dead: counters?.counts[.dead] ?? 0,
            oldestUndeliveredMilliseconds: counters?.oldestUndeliveredMilliseconds)
        counts = counters?.counts ?? [:]
        throttleCount = condition.partialThrottles.count
        throttles = Array(condition.partialThrottles.prefix(Self.maximumThrottles))
        heldReasons = counters?.heldReasons.map(\.rawValue) ?? []
    }
}
