import KleosModel
import KleosStore
import KleosSupport
import KleosWire

/// A file of the spool that could be read, and the user who submits it.
struct SpooledSubmission: Sendable {
    var uid: UInt32
    /// All groups of the user, as far as the machine knows.
    var groups: [UInt32]
    var file: SpoolFile
}

extension Server {
    /// Rejections named in an answer.
    private static let namedRejections = 10

    /// Takes in what was spooled as if it came over the socket, with the same rules and limits; calls `completion` on
    /// the server's queue, with nil for what is on disk and the error for what is not, in the order of `files`.
    nonisolated func submitSpooled(
        _ files: [SpooledSubmission], then completion: @escaping @Sendable ([RPCError?]) -> Void
    ) {
        async { $0.record(files, completion) }
    }

    private func record(_ files: [SpooledSubmission], _ completion: @escaping @Sendable ([RPCError?]) -> Void) {
        let now = clock.read()
        var results = [RPCError?](repeating: nil, count: files.count)
        var shares: [UInt32: SpoolShare] = [:]
        // Files of one moment are recorded in the order in which they were written.
        let order = files.indices.sorted {
            files[$0].file.spooledAtMilliseconds ?? 0 < files[$1].file.spooledAtMilliseconds ?? 0
        }
        for index in order {
            let file = files[index]
            let peer = PeerIdentity(uid: file.uid, gid: file.groups.first ?? file.uid, pid: 0, groups: file.groups)
            do throws(RPCError) {
                var (event, fanOut) = try checked(
                    file.file.submission, of: peer, submitter: Submitter(uid: file.uid, pid: 0), now: now)
                event.waitedInSpool()
                shares[file.uid, default: SpoolShare()].add(event, fanOut, at: index)
            } catch {
                results[index] = error
            }
        }
        guard !shares.isEmpty else { return completion(results) }
        let number = nextNumber()
        spoolBatches[number] = SpoolBatch(results: results, missing: shares.count, completion: completion)
        for (uid, share) in shares { record(share, of: uid, batch: number) }
    }

    private func record(_ share: SpoolShare, of uid: UInt32, batch: UInt64) {
        store.perform(lane: .user(uid, connection: Self.spoolLane)) { outbox throws(StoreError) in
            var results: [AcceptResult] = []
            for (spooled, fanOut) in zip(share.events, share.fanOuts) {
                var event = spooled
                event.key = try outbox.key(event.key)
                results.append(try outbox.accept(event, fanOut: fanOut))
            }
            return results
        } then: { [self] result in
            self.async { server in
                switch result {
                case .success(let accepted): server.recorded(share, accepted.map(Self.refusal), batch: batch)
                case .failure(let error):
                    let errors = [RPCError?](repeating: server.failure(error), count: share.indices.count)
                    server.recorded(share, errors, batch: batch)
                }
            }
        }
    }

    private func recorded(_ share: SpoolShare, _ errors: [RPCError?], batch number: UInt64) {
        guard var batch = spoolBatches.removeValue(forKey: number) else { return }
        for (index, error) in zip(share.indices, errors) { batch.results[index] = error }
        batch.missing -= 1
        guard batch.missing > 0 else { return batch.completion(batch.results) }
        spoolBatches[number] = batch
    }

    /// No connection has this number.
    private static let spoolLane = UInt64.max

    /// Why an event is not on disk; nil where it is.
    static func refusal(_ result: AcceptResult) -> RPCError? {
        switch result {
        case .accepted, .superseded, .duplicate: nil
        case .idConflict:
            RPCError(
                .idConflict, "the id was used before, for another event; give each event an id of its own",
                field: "id")
        case .queueFull(let message): RPCError(.queueFull, message)
        }
    }

    /// The spool as a user may see it; with nil, as an operator may.
    func spoolStatus(visibleTo uid: UInt32?) -> SpoolStatus? {
        guard let report = spoolReport else { return nil }
        let rejections = report.rejections.filter { uid == nil || $0.uid == uid }
        let reason = uid.map { report.waitingReasons[$0] } ?? report.waitingReasons.min { $0.key < $1.key }?.value
        return SpoolStatus(
            path: report.path, trouble: report.trouble, waiting: report.waiting, waitingReason: reason,
            takenIn: report.takenIn, rejected: rejections.count,
            rejections: rejections.suffix(Self.namedRejections).reversed())
    }
}

/// What the intake tells the server about itself.
struct SpoolReport: Sendable {
    var path: String
    /// Why nothing is taken in.
    var trouble: String?
    var waiting = 0
    var waitingReasons: [UInt32: String] = [:]
    var takenIn = 0
    /// The oldest first.
    var rejections: [SpoolRejection] = []
}

/// The events of one user in a batch of the spool.
private struct SpoolShare: Sendable {
    /// Their places in the batch.
    var indices: [Int] = []
    var events: [Event] = []
    var fanOuts: [[FanOut]] = []

    mutating func add(_ event: Event, _ fanOut: [FanOut], at index: Int) {
        indices.append(index)
        events.append(event)
        fanOuts.append(fanOut)
    }
}

/// A batch of the spool until all of it is recorded or refused.
struct SpoolBatch {
    var results: [RPCError?]
    /// Users whose share is under way.
    var missing: Int
    var completion: @Sendable ([RPCError?]) -> Void
}
