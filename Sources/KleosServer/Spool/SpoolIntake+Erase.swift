import KleosSupport
import KleosWire

/// A player to erase from the spool, and whom to tell.
struct SpoolErasureRequest {
    var subject: SpoolSubject
    var completion: @Sendable (SpoolErasure) -> Void
}

extension SpoolIntake {
    /// Erases a player's events from the spool, once what is on its way into the queue is there; nothing is taken in
    /// meanwhile. Calls `completion` once, on the intake's queue.
    nonisolated func erase(_ subject: SpoolSubject, then completion: @escaping @Sendable (SpoolErasure) -> Void) {
        async { intake in
            intake.erasures.append(SpoolErasureRequest(subject: subject, completion: completion))
            intake.eraseNext()
        }
    }

    /// Begins the next erasing, where nothing is on its way.
    func eraseNext() {
        guard eraser == nil, !isUnderway, let request = erasures.first else { return }
        let now = clock.read().wallMilliseconds
        guard let folder, let rejects, !isStopped else {
            return finish(SpoolErasure(quietMilliseconds: now), because: report.trouble ?? "the daemon is stopping")
        }
        eraser = SpoolEraser(request.subject, folder, rejects, quietMilliseconds: now)
        eraseStep()
    }

    private func eraseStep() {
        guard let eraser else { return }
        let handlers = SpoolEraser.Handlers(
            keep: { _ = self.plan.add($0) }, reject: { self.reject($0, label: $1, $2) })
        do throws(SystemError) {
            let seconds = Int(clock.read().wallMilliseconds / 1_000)
            guard !isStopped else { return finish(eraser.result, because: "the daemon is stopping") }
            if try eraser.step(nowSeconds: seconds, handlers) { return async { $0.eraseStep() } }
            finish(eraser.result)
        } catch {
            log(.error, "a player cannot be erased from the spool: \(error)")
            finish(eraser.result, because: error.description)
        }
    }

    private func finish(_ erasure: SpoolErasure, because trouble: String? = nil) {
        var erasure = erasure
        erasure.trouble = trouble
        eraser = nil
        let request = erasures.removeFirst()
        publish()
        request.completion(erasure)
        eraseNext()
        schedule()
    }
}
