import KleosModel
import KleosStore
import KleosSupport

extension DeliveryWorker {
    /// A delivery that is ready to go out.
    struct Parcel: Sendable {
        var claim: Claim
        var endpoint: Endpoint
        var request: TransportRequest
        /// When it was sent, on the wall clock.
        var startedMilliseconds: Int64 = 0
    }

    /// What a claim brought.
    struct Load: Sendable {
        var parcels: [Parcel] = []
        var nextDueMilliseconds: Int64?
    }

    /// Claims what is due and saves the renderings in one transaction; what goes out is on disk first.
    func claim(_ claiming: DeliveryPlanner.Claiming) {
        claimsUnderWay += 1
        let targets = targets
        let now = clock.read()
        store.perform { outbox throws(StoreError) in
            try Self.load(claiming, from: outbox, targets: targets, now: now)
        } then: { [self] result in
            self.async { worker in worker.loaded(claiming, result) }
        }
    }

    private func loaded(_ claiming: DeliveryPlanner.Claiming, _ result: Result<Load, StoreError>) {
        let now = clock.read()
        claimsUnderWay -= 1
        switch result {
        case .success(let load) where isStopping: giveBack(load)
        case .success(let load):
            send(load.parcels)
            perform(
                planner.claimed(
                    claiming, count: load.parcels.count, nextDueMilliseconds: load.nextDueMilliseconds, now: now))
        case .failure(let error):
            log(.error, "deliveries of \(claiming.endpoint) cannot be claimed: \(error)")
            perform(planner.claimFailed(claiming, now: now))
            finishStop()
        }
    }

    /// Returns what was claimed while the daemon began to stop.
    private func giveBack(_ load: Load) {
        unsettled += 1
        let now = clock.read()
        store.perform { outbox throws(StoreError) in
            for parcel in load.parcels { try outbox.giveBack(parcel.claim.id, now: now) }
        } then: { [self] result in
            self.async { worker in
                // What cannot be given back is taken back at the next start.
                if let error = result.failure { worker.log(.error, "deliveries cannot be given back: \(error)") }
                worker.unsettled -= 1
                worker.finishStop()
            }
        }
    }

    private static func load(
        _ claiming: DeliveryPlanner.Claiming, from outbox: Outbox, targets: Targets, now: ClockReading
    ) throws(StoreError) -> Load {
        var load = Load()
        guard let endpoint = targets.endpoints[claiming.endpoint], let routes = targets.routes[claiming.endpoint] else {
            return load
        }
        // Deliveries that end here without being sent make room for others, but not without bound.
        for _ in 0..<4 where load.parcels.count < claiming.limit {
            let wanted = claiming.limit - load.parcels.count
            let claims = try outbox.claim(
                endpoint: claiming.endpoint, limit: wanted, nowMilliseconds: now.wallMilliseconds,
                excludingPlayers: claiming.excludingPlayers, excludingBoards: claiming.excludingBoards)
            for claim in claims {
                if let parcel = try parcel(
                    for: claim, to: endpoint, over: routes, outbox: outbox, targets: targets, now: now)
                {
                    load.parcels.append(parcel)
                }
            }
            if claims.count < wanted { break }
        }
        load.nextDueMilliseconds = try outbox.nextDueMilliseconds(
            endpoint: claiming.endpoint, excludingPlayers: claiming.excludingPlayers,
            excludingBoards: claiming.excludingBoards)
        return load
    }

    /// The request for a claimed delivery; nil where it ended without being sent.
    private static func parcel(
        for claim: Claim, to endpoint: Endpoint, over routes: EndpointRoutes, outbox: Outbox, targets: Targets,
        now: ClockReading
    ) throws(StoreError) -> Parcel? {
        let overage = overage(of: claim, at: endpoint, now: now)
        if overage, endpoint.whenOlder == .expire {
            let days = (endpoint.maximumAgeMilliseconds ?? 0) / 86_400_000
            try end(claim, .expired, "not sent: older than the \(days) days that \(endpoint.name) allows", outbox, now)
            return nil
        }
        // A reload may be under way; it releases what it finds configured.
        guard let game = targets.games[claim.event.game] else {
            try outbox.holdUnconfigured(claim.id, now: now)
            return nil
        }
        var body = claim.rendering ?? []
        if claim.rendering == nil {
            let limit = endpoint.maximumAgeMilliseconds.map { now.wallMilliseconds - $0 }
            do throws(RenderingError) {
                body = try RequestRenderer.body(
                    for: claim.event, in: game,
                    occurredAtMilliseconds: overage && endpoint.whenOlder == .clamp ? limit : nil)
            } catch {
                try end(claim, .unrenderable, error.message, outbox, now)
                return nil
            }
            if endpoint.resend == .keyed { try outbox.saveRendering(body, for: claim.id) }
        }
        return Parcel(
            claim: claim, endpoint: endpoint,
            request: RequestRenderer.request(body, for: claim.event, over: routes))
    }

    private static func overage(of claim: Claim, at endpoint: Endpoint, now: ClockReading) -> Bool {
        guard !claim.ignoresAge, let limit = endpoint.maximumAgeMilliseconds,
            let age = EventAge.milliseconds(from: claim.event.recorded, to: now)
        else { return false }
        return age > limit
    }

    private static func end(
        _ claim: Claim, _ reason: DeliveryReason, _ message: String, _ outbox: Outbox, _ now: ClockReading
    ) throws(StoreError) {
        let attempt = Attempt(
            number: claim.attemptsMade + 1, startedMilliseconds: now.wallMilliseconds, durationMilliseconds: 0,
            outcome: .permanent, error: message)
        _ = try outbox.settle(
            claim.id, attempt: attempt, settlement: .dead(reason, message: message),
            mayHaveTakenEffect: claim.mayHaveTakenEffect, now: now)
    }

    private func send(_ parcels: [Parcel]) {
        let started = clock.read().wallMilliseconds
        var requests: [TransportRequest] = []
        for var parcel in parcels {
            requestsSent += 1
            parcel.request.number = requestsSent
            parcel.startedMilliseconds = started
            flights[requestsSent] = parcel
            requests.append(parcel.request)
        }
        transport.send(requests)
    }

    /// Requests came to their ends in one turn of the transport.
    func ended(_ ends: [TransportEnd]) {
        let now = clock.read()
        var burst: [Settling] = []
        var actions: [DeliveryPlanner.Action] = []
        for end in ends {
            guard let parcel = flights.removeValue(forKey: end.number) else { continue }
            let (settling, decided) = finished(parcel, end.result, now: now)
            burst.append(settling)
            actions += decided
        }
        // Settling goes first, so that a claim that follows sees what it promoted.
        unsettled += burst.count
        settle(burst)
        perform(actions)
    }

    private func finished(
        _ parcel: Parcel, _ result: TransportResult, now: ClockReading
    ) -> (Settling, [DeliveryPlanner.Action]) {
        let claim = parcel.claim
        // A service may repeat what it was sent.
        let filter = SecretFilter(parcel.endpoint.token)
        let verdict = OutcomeRules.judge(
            result, hadUnansweredAttempt: claim.mayHaveTakenEffect, nowMilliseconds: now.wallMilliseconds,
            filter: filter)
        let decision = planner.finished(
            verdict, stream: claim.stream, sentTo: parcel.endpoint,
            delivery: SettlementRules.DeliveryFacts(
                backoffAttempts: claim.backoffAttempts, serverErrors: claim.serverErrors,
                lastTriedMilliseconds: claim.lastClaimedMilliseconds ?? claim.createdMilliseconds),
            notice: notice(for: claim, verdict), now: now)
        let attempt = Attempt(
            number: claim.attemptsMade + 1, startedMilliseconds: parcel.startedMilliseconds,
            durationMilliseconds: result.durationMilliseconds, outcome: verdict.outcome,
            status: try? result.answer.get().status, error: verdict.message, answer: receipt(result, filter))
        let settling = Settling(
            claim: claim, attempt: attempt, settlement: decision.settlement,
            mayHaveTakenEffect: claim.mayHaveTakenEffect || verdict.mayHaveTakenEffect,
            confirmedFingerprint: remembers(decision, parcel.endpoint, now) ? parcel.endpoint.fingerprint : nil)
        return (settling, decision.actions)
    }

    private func notice(for claim: Claim, _ verdict: Verdict) -> NoticeDraft? {
        guard claim.confirms, verdict.outcome == .delivered || verdict.outcome == .alreadyDone else { return nil }
        let event = claim.event
        let achievement = targets.games[event.game]?.achievements[event.subject.item]
        let draft = NoticeRule.draft(
            for: event, confirmation: verdict.confirmation ?? Confirmation(), outcome: verdict.outcome,
            achievement: event.subject.kind == .achievement ? achievement : nil,
            mayBeOwnEcho: claim.mayHaveTakenEffect)
        guard let draft, targets.games[event.game]?.notices.silence(draft.facts) == nil else { return nil }
        return draft
    }

    private func receipt(_ result: TransportResult, _ filter: SecretFilter) -> String? {
        guard case .success(let answer) = result.answer, !answer.body.isEmpty else { return nil }
        return filter.beginning(of: answer.body, maximumBytes: Attempt.maximumAnswerBytes)
    }

    /// Whether a confirmation is worth a write: the first with these settings, and then one every ten seconds.
    private func remembers(_ decision: DeliveryPlanner.Decision, _ endpoint: Endpoint, _ now: ClockReading) -> Bool {
        guard decision.isConfirmation else { return false }
        let settings = "\(endpoint.name) \(endpoint.fingerprint)"
        if let last = recordedSuccess[settings], now.bootMilliseconds - last < 10_000 { return false }
        recordedSuccess[settings] = now.bootMilliseconds
        return true
    }

    /// Everything that settling a delivery writes.
    struct Settling: Sendable {
        var claim: Claim
        var attempt: Attempt
        var settlement: Settlement
        var mayHaveTakenEffect: Bool
        /// How often the store could not write it.
        var failures = 0
        /// Set where the confirmation itself is worth remembering.
        var confirmedFingerprint: String?
    }

    /// Settles what came to its end together in one transaction; where that fails, each by itself, so that one which
    /// cannot be written holds up no other.
    private func settle(_ burst: [Settling]) {
        guard !burst.isEmpty else { return }
        let now = clock.read()
        store.perform { outbox throws(StoreError) in
            var results: [SettleResult] = []
            for settling in burst { results.append(try Self.write(settling, to: outbox, now: now)) }
            return results
        } then: { [self] result in
            self.async { worker in
                switch result {
                case .success(let results):
                    for (settling, settled) in zip(burst, results) { worker.settled(settling, .success(settled)) }
                case .failure(let error) where burst.count == 1: worker.settled(burst[0], .failure(error))
                case .failure: for settling in burst { worker.settle([settling]) }
                }
            }
        }
    }

    private static func write(
        _ settling: Settling, to outbox: Outbox, now: ClockReading
    ) throws(StoreError) -> SettleResult {
        let result = try outbox.settle(
            settling.claim.id, attempt: settling.attempt, settlement: settling.settlement,
            mayHaveTakenEffect: settling.mayHaveTakenEffect, now: now)
        if let fingerprint = settling.confirmedFingerprint {
            try outbox.markConfirmed(
                endpoint: settling.claim.stream.endpoint, fingerprint: fingerprint,
                nowMilliseconds: now.wallMilliseconds)
        }
        return result
    }

    private func settled(_ settling: Settling, _ result: Result<SettleResult, StoreError>) {
        switch result {
        case .success(let settled):
            unsettled -= 1
            logSettled(settling, settled)
            finishStop()
        case .failure(let error):
            log(.error, "a delivery cannot be settled, trying again: \(error)", ["key": "\(settling.claim.event.key)"])
            var again = settling
            again.failures += 1
            let next = again
            after(milliseconds: StoreRetry.milliseconds(next.failures)) { $0.settle([next]) }
        }
    }

    private func logSettled(_ settling: Settling, _ settled: SettleResult) {
        let claim = settling.claim
        let level: LogLevel = settled.state == .dead ? .warning : settled.state == .delivered ? .info : .debug
        log(
            level, "\(settled.state.rawValue) after attempt \(settling.attempt.number)",
            [
                "key": claim.event.key.description, "endpoint": claim.stream.endpoint, "game": claim.stream.game,
                "outcome": settling.attempt.outcome.rawValue, "error": settling.attempt.error ?? "none",
            ])
    }
}
