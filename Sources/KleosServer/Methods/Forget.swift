import Dispatch
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// forget, adopt, reset: whose events the queue holds.

/// The erasing of one player, as far as it has come.
private struct Forgetting: Sendable {
    var target: ForgetTarget
    /// What was erased from the spool.
    var spool: SpoolErasure
    var token: ReplyToken
    /// Events erased from the queue so far.
    var events = 0
}

extension Server {
    /// What is in flight is looked at again after so long.
    static let flightMilliseconds = 200

    /// First from the spool, whose events come into the queue by themselves, then from the queue.
    func forget(_ parameters: ForgetParameters, _ token: ReplyToken, now: ClockReading) {
        guard let spoolEraser else {
            return forgetQueue(parameters, SpoolErasure(quietMilliseconds: 0), token, now: now)
        }
        let ownGames = settings.games.values.filter { game in
            game.player.map { ExactText.same($0, parameters.player) } ?? false
        }
        let subject = SpoolSubject(
            player: parameters.player, game: parameters.game, ownGames: Set(ownGames.map(\.id)))
        spoolEraser(subject) { [self] erasure in
            self.async { $0.forgetQueue(parameters, erasure, token, now: now) }
        }
    }

    private func forgetQueue(
        _ parameters: ForgetParameters, _ spool: SpoolErasure, _ token: ReplyToken, now: ClockReading
    ) {
        // What was on its way from the spool was recorded after the request came.
        let target = ForgetTarget(
            player: parameters.player, game: parameters.game,
            recordedUntilMilliseconds: max(now.wallMilliseconds, spool.quietMilliseconds))
        forgetStep(Forgetting(target: target, spool: spool, token: token), after: 0, from: nil)
    }

    /// One transaction's worth of events; `again` is where the next pass begins, for what was in flight in this one.
    private func forgetStep(_ work: Forgetting, after: Int64, from again: Int64?) {
        let now = clock.read()
        store.perform(lane: work.token.lane) { outbox throws(StoreError) in
            try outbox.forgetEvents(work.target, after: after, now: now)
        } then: { [self] result in
            self.async { server in
                switch result {
                case .failure(let error): server.reply(work.token, .failure(server.failure(error)))
                case .success(let step):
                    var work = work
                    work.events += step.erased
                    server.tellProgress(
                        .forget, Int(clamping: step.done), Int(clamping: step.total), to: work.token)
                    server.goOn(work, after: step, from: again ?? step.inFlight)
                }
            }
        }
    }

    private func goOn(_ work: Forgetting, after step: ForgetStep, from again: Int64?) {
        if step.done < step.total {
            forgetStep(work, after: step.done, from: again)
        } else if let again {
            later { $0.forgetStep(work, after: again - 1, from: nil) }
        } else {
            forgetRest(work)
        }
    }

    private func forgetRest(_ work: Forgetting) {
        let now = clock.read()
        store.perform(lane: work.token.lane) { outbox throws(StoreError) in
            try outbox.forgetRest(work.target, elsewhere: work.spool.events, now: now)
        } then: { [self] result in
            store.purge { purged in
                self.async { $0.answerForget(result, purged, work) }
            }
        }
    }

    private func answerForget(
        _ rest: Result<ForgetReport, StoreError>, _ purged: Result<Bool, StoreError>, _ work: Forgetting
    ) {
        do throws(StoreError) {
            let report = try rest.get()
            var answer = ForgetAnswer(
                events: work.events + work.spool.events, notices: report.notices, standings: report.standings,
                accounts: 0, isRewritten: try purged.get(), copies: try store.copies())
            answer.spooled = work.spool.events
            answer.unclear = work.spool.unclear
            answer.spoolTrouble = work.spool.trouble
            // Whom it was about is what was to be forgotten.
            log(
                .notice, "an operator erased a player's events",
                [
                    "events": String(answer.events), "spooled": String(answer.spooled),
                    "notices": String(answer.notices), "standings": String(answer.standings),
                    "uid": String(work.token.uid),
                ])
            reply(work.token, .success(answer.json))
        } catch {
            reply(work.token, .failure(failure(error)))
        }
    }

    /// Runs `body` on the server's queue a moment from now, when what is in flight may have settled.
    func later(_ body: @escaping @Sendable (isolated Server) -> Void) {
        executor.queue.asyncAfter(deadline: .now() + .milliseconds(Self.flightMilliseconds)) { [weak self] in
            self?.assumeIsolated(body)
        }
    }

    // MARK: Clones

    /// `adopt` and `reset`, in steps.
    func claimClone(_ method: Method, _ token: ReplyToken, so far: Int = 0) {
        let now = clock.read()
        store.perform(lane: token.lane) { outbox throws(StoreError) in
            method == .adopt ? try outbox.adopt(now: now) : try outbox.reset(now: now)
        } then: { [self] result in
            self.async { server in
                switch result {
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                case .success(let step):
                    let total = far + step.changed
                    if step.hasMore { return server.claimClone(method, token, so: total) }
                    server.log(
                        .notice, "an operator said whose the queue is",
                        ["verb": method.rawValue, "deliveries": String(total), "uid": String(token.uid)])
                    server.holdUnconfigured(token, .success(["changed": .integer(total)]))
                }
            }
        }
    }

    /// What goes on from here on may be of a game or endpoint that this machine does not have.
    private func holdUnconfigured(_ token: ReplyToken, _ answer: Result<JSONValue, RPCError>) {
        let (games, endpoints) = (Set(settings.games.keys), Set(settings.endpoints.keys))
        let now = clock.read()
        store.performSteps(lane: token.lane) { outbox throws(StoreError) in
            try outbox.reconcile(games: games, endpoints: endpoints, now: now)
        } then: { [self] result in
            self.async { server in
                switch result {
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                case .success: server.reply(token, answer)
                }
            }
        }
    }
}
