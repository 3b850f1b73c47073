import Dispatch
import KleosJSON
import KleosModel
import KleosStore
import KleosSupport
import KleosWire

// forget, adopt, reset: whose events the queue holds.

extension Server {
    /// What is in flight is looked at again after so long.
    static let flightMilliseconds = 200

    func forget(_ parameters: ForgetParameters, _ token: ReplyToken, now: ClockReading) {
        let target = ForgetTarget(
            player: parameters.player, game: parameters.game, recordedUntilMilliseconds: now.wallMilliseconds)
        forgetStep(target, after: 0, from: nil, so: ForgetReport(), token)
    }

    /// One transaction's worth of events; `again` is where the next pass begins, for what was in flight in this one.
    private func forgetStep(
        _ target: ForgetTarget, after: Int64, from again: Int64?, so far: ForgetReport, _ token: ReplyToken
    ) {
        let now = clock.read()
        store.perform(lane: token.lane) { outbox throws(StoreError) in
            try outbox.forgetEvents(target, after: after, now: now)
        } then: { [self] result in
            self.async { server in
                switch result {
                case .failure(let error): server.reply(token, .failure(server.failure(error)))
                case .success(let step):
                    let total = far.adding(events: step.erased)
                    server.tellProgress(.forget, Int(clamping: step.done), Int(clamping: step.total), to: token)
                    let again = again ?? step.inFlight
                    if step.done < step.total {
                        server.forgetStep(target, after: step.done, from: again, so: total, token)
                    } else if let again {
                        server.later { $0.forgetStep(target, after: again - 1, from: nil, so: total, token) }
                    } else {
                        server.forgetRest(target, so: total, token)
                    }
                }
            }
        }
    }

    private func forgetRest(_ target: ForgetTarget, so far: ForgetReport, _ token: ReplyToken) {
        let now = clock.read()
        store.perform(lane: token.lane) { outbox throws(StoreError) in
            try outbox.forgetRest(target, now: now)
        } then: { [self] result in
            store.purge { purged in
                self.async { $0.answerForget(result, purged, so: far, token) }
            }
        }
    }

    private func answerForget(
        _ rest: Result<ForgetReport, StoreError>, _ purged: Result<Bool, StoreError>, so far: ForgetReport,
        _ token: ReplyToken
    ) {
        do throws(StoreError) {
            var report = try rest.get()
            report.events = far.events
            let answer = ForgetAnswer(
                events: report.events, notices: report.notices, standings: report.standings,
                accounts: report.accounts, isRewritten: try purged.get(), copies: try store.copies())
            // Whom it was about is what was to be forgotten.
            log(
                .notice, "an operator erased a player's events",
                [
                    "events": String(report.events), "notices": String(report.notices),
                    "standings": String(report.standings), "uid": String(token.uid),
                ])
            reply(token, .success(answer.json))
        } catch {
            reply(token, .failure(failure(error)))
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
