import KleosSupport

// What becomes of requests that nobody answers.

extension ClientSession {
    /// Notes when the time of a request runs out; all have as much, so that the first to come is the first to go.
    func limitTime(of id: Int64) {
        deadlines.append((id, clock.monotonicNanoseconds + requestTimeoutMilliseconds * 1_000_000))
        scheduleExpiry()
    }

    private func scheduleExpiry() {
        guard !isExpiryScheduled, let first = deadlines.first else { return }
        isExpiryScheduled = true
        let wait = max(0, first.nanoseconds - clock.monotonicNanoseconds) / 1_000_000 + 1
        after(milliseconds: wait) { $0.expire() }
    }

    private func expire() {
        isExpiryScheduled = false
        let now = clock.monotonicNanoseconds
        let count = deadlines.prefix { $0.nanoseconds <= now }.count
        let expired = deadlines.prefix(count).map(\.id)
        deadlines.removeFirst(count)
        // What was answered meanwhile is of no interest.
        deadlines.removeAll { pending[$0.id] == nil }
        var silentSince: Int64?
        for id in expired {
            guard let entry = pending[id] else { continue }
            let since = max(entry.enqueuedNanoseconds, connectedNanoseconds)
            if onTheirWay.contains(id), answeredNanoseconds <= since { silentSince = min(silentSince ?? since, since) }
            if entry.submission == nil, !entry.isKept {
                finish(id, .failure(.timedOut("after \(requestTimeoutMilliseconds) milliseconds")))
            } else if !spool(id) {
                // It stays here, under the id that it had, and is handed over when a daemon answers.
                limitTime(of: id)
            }
        }
        if let silentSince { giveUpIfSilent(since: silentSince, generation) }
        wakeIdleWaiters()
        scheduleExpiry()
    }

    /// Ends a connection on which a request got no answer since then; one that was made only just now has its time,
    /// too.
    private func giveUpIfSilent(since: Int64, _ asked: Int) {
        guard asked == generation, connection != nil, answeredNanoseconds <= since else { return }
        let left = since + requestTimeoutMilliseconds * 1_000_000 - clock.monotonicNanoseconds
        guard left > 0 else { return disconnected() }
        after(milliseconds: left / 1_000_000 + 1) { $0.giveUpIfSilent(since: since, asked) }
    }

    /// Spools every event that waits.
    func spoolAll() {
        for id in pending.keys.sorted() where pending[id]?.submission != nil {
            // What keeps one out keeps the next out too.
            guard spool(id) else { break }
        }
        if pending.isEmpty { unsent = [] }
        wakeIdleWaiters()
    }

    /// Whether the event of this request is in the spool now.
    private func spool(_ id: Int64) -> Bool {
        guard let submission = pending[id]?.submission else { return false }
        do throws(SpoolError) {
            finish(id, .success(.spooled(path: try spool.write(submission))))
            spoolFailure = nil
            return true
        } catch {
            // Said at the end, if it comes to that: until then the event is tried again.
            spoolFailure = error
            return false
        }
    }

    private func finish(_ id: Int64, _ result: Result<PendingRequest.Reply, KleosError>) {
        guard let entry = pending.removeValue(forKey: id) else { return }
        onTheirWay.remove(id)
        entry.completion(result)
    }
}
