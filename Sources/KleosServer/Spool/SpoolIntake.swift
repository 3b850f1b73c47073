import Dispatch
import Glibc
package import KleosSupport
import KleosWire

/// Takes in what clients left in the spool while the daemon did not answer: at its start, and whenever a file comes.
///
/// A file is moved into the daemon's own folder, read, handed to the server, and removed when its event is on disk. A
/// crash in between leads to a duplicate, which its id settles. Nothing runs while nothing comes.
package actor SpoolIntake: QueueActor {
    package nonisolated let executor = QueueExecutor(label: "kleos.spool")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Files in one batch, and names looked at in one turn of a listing.
    private static let batchFiles = 64
    private static let listedInTurn = 512
    /// How often a folder is listed that cannot be watched.
    private static let unwatchedMilliseconds: Int64 = 60_000
    /// Rejections that the log names in one minute.
    private static let loggedAMinute = 20

    private let path: String
    private let mode: mode_t
    private let server: Server
    let clock: any Clock
    let log: Log
    var plan = SpoolPlan()
    private var groups = UserGroups()
    private(set) var folder: SpoolFolder?
    private(set) var rejects: SpoolRejects?
    private var watch: FolderWatch?
    private var listing: FolderListing?
    private var isListingWanted = false
    private(set) var isUnderway = false
    private var isTurnScheduled = false
    private(set) var isStopped = false
    private var nextTry: Int64?
    private(set) var report: SpoolReport
    private var logged: (minute: Int64, lines: Int) = (0, 0)
    /// Files of this turn that cannot be moved aside; told of when those that could be taken in are through.
    private var stuck: [(entry: SpoolEntry, place: SpoolEntry, reason: String)] = []
    /// Players that are to be erased, one after the other; while there are any, nothing is taken in.
    var erasures: [SpoolErasureRequest] = []
    /// The erasing that is under way.
    var eraser: SpoolEraser?

    /// Makes an intake for the folder `path`, which it makes with `mode` where there is none.
    package init(path: String, mode: UInt32, server: Server, clock: any Clock, log: Log) {
        self.path = path
        self.mode = mode
        self.server = server
        self.clock = clock
        self.log = log
        report = SpoolReport(path: path)
    }

    /// Begins to take in what is there and what comes, and calls `completion` once clients can spool. A spool that
    /// cannot be used is told in the log and in `status`.
    package nonisolated func start(then completion: @escaping @Sendable () -> Void) {
        server.async { server in
            server.spoolEraser = { [weak self] subject, done in self?.erase(subject, then: done) }
        }
        async { intake in
            intake.begin()
            completion()
        }
    }

    /// Takes nothing more in, and calls `completion`; may be called twice, and before `start`.
    package nonisolated func stop(then completion: @escaping @Sendable () -> Void) {
        async { intake in
            intake.isStopped = true
            intake.watch?.cancel()
            completion()
        }
    }

    /// Removes what was rejected long ago.
    package nonisolated func maintain() {
        async { intake in
            let wall = intake.clock.read().wallMilliseconds
            if intake.rejects?.expire(wallMilliseconds: wall) == true { intake.publish() }
        }
    }

    private func begin() {
        guard !isStopped, folder == nil else { return }
        do throws(SystemError) {
            let folder = try SpoolFolder(path, mode: mode, random: .unpredictable())
            let rejects = SpoolRejects(folder)
            try rejects.load()
            self.folder = folder
            self.rejects = rejects
            // Watched before it is listed, so that nothing comes unseen in between.
            startWatch()
            try addTaken(folder)
        } catch {
            report.trouble = error.description
            log(.warning, "no events are taken from the spool: \(error)", ["path": path])
            return publish()
        }
        isListingWanted = true
        rejects?.expire(wallMilliseconds: clock.read().wallMilliseconds)
        publish()
        schedule()
    }

    private func startWatch() {
        do throws(SystemError) {
            watch = try FolderWatch(path, queue: executor.queue) { [weak self] event in
                self?.assumeIsolated { $0.happened(event) }
            }
        } catch {
            log(.warning, "the spool is looked at once a minute only: \(error)", ["path": path])
            lookLater()
        }
    }

    private func lookLater() {
        after(milliseconds: Self.unwatchedMilliseconds) { intake in
            guard !intake.isStopped else { return }
            intake.isListingWanted = true
            intake.schedule()
            intake.lookLater()
        }
    }

    /// What an earlier run took and did not finish; there is little of it.
    private func addTaken(_ folder: SpoolFolder) throws(SystemError) {
        let taken = try folder.takenListing()
        while true {
            let names = taken.next(Self.listedInTurn)
            if names.isEmpty { return }
            for name in names { note(name, isTaken: true) }
        }
    }

    private func happened(_ event: FolderWatch.Event) {
        guard !isStopped else { return }
        switch event {
        case .names(let names): for name in names { note(name) }
        case .made(let names):
            for name in names where folder?.isIrregular(name) == true { note(name) }
        case .overflow: isListingWanted = true
        case .ended:
            report.trouble = "the folder was removed or renamed; make it again and restart the daemon"
            log(.error, "the spool's folder is gone", ["path": path])
            watch?.cancel()
            return publish()
        }
        schedule()
    }

    private func note(_ name: [CChar], isTaken: Bool = false) {
        let seconds = Int(clock.read().wallMilliseconds / 1_000)
        guard let folder, let entry = folder.entry(named: name, isTaken: isTaken, nowSeconds: seconds) else { return }
        guard plan.add(entry) == .overShare else { return }
        switch folder.take(entry) {
        case .gone: break
        case .later(let place, let error):
            log(.warning, "a file of the spool is left for later: \(error)")
            if place.isTaken { _ = plan.add(place) }
        case .bad(let place, let error): rejectOrKeep(place, label: entry.label, error)
        case .file(let place, _, _):
            let message = "user \(entry.uid) has too many files in the spool; they are taken in as the queue has room"
            rejectOrKeep(place, label: entry.label, RPCError(.queueFull, message))
        }
    }

    /// Moves a file aside that was taken; where that cannot be done now, it waits with the others.
    private func rejectOrKeep(_ place: SpoolEntry, label: String, _ error: RPCError) {
        if !reject(place, label: label, error) { _ = plan.add(place) }
    }

    // MARK: - Turns

    func schedule() {
        guard !isTurnScheduled, !isUnderway, !isStopped, erasures.isEmpty, eraser == nil else { return }
        isTurnScheduled = true
        async { $0.turn() }
    }

    private func turn() {
        isTurnScheduled = false
        guard !isStopped, !isUnderway, erasures.isEmpty, eraser == nil, let folder else { return }
        listSome(folder)
        let now = clock.read().monotonicMilliseconds
        let entries = plan.next(limit: Self.batchFiles, nowMilliseconds: now)
        var batch: [(entry: SpoolEntry, place: SpoolEntry, submission: SpooledSubmission)] = []
        for entry in entries {
            if let (place, submission) = read(entry, in: folder) { batch.append((entry, place, submission)) }
        }
        guard !batch.isEmpty else {
            postponeStuck()
            if !entries.isEmpty || listing != nil || isListingWanted || plan.isListingNeeded { schedule() }
            waitForPauses()
            return publish()
        }
        isUnderway = true
        let places = batch.map { (entry: $0.entry, place: $0.place) }
        server.submitSpooled(batch.map(\.submission)) { [self] errors in
            self.async { $0.settle(places, errors) }
        }
    }

    /// Looks at a piece of the folder, where that is due.
    private func listSome(_ folder: SpoolFolder) {
        if listing == nil, isListingWanted || plan.isListingNeeded {
            isListingWanted = false
            plan.listingBegins()
            do throws(SystemError) {
                listing = try folder.listing()
            } catch {
                log(.warning, "the spool cannot be listed: \(error)")
                after(milliseconds: Self.unwatchedMilliseconds) { intake in
                    intake.isListingWanted = true
                    intake.schedule()
                }
            }
        }
        guard let names = listing?.next(Self.listedInTurn) else { return }
        if names.isEmpty { listing = nil }
        for name in names { note(name) }
    }

    /// Takes and reads a file; nil where there is nothing to hand over.
    private func read(
        _ entry: SpoolEntry, in folder: SpoolFolder
    ) -> (place: SpoolEntry, submission: SpooledSubmission)? {
        switch folder.take(entry) {
        case .gone: plan.finished(entry, isRecorded: false)
        case .later(let place, let error):
            if !place.isTaken, folder.entry(named: entry.name, nowSeconds: 0) == nil {
                plan.finished(entry, isRecorded: false)
            } else {
                postpone(entry, at: place, because: error.description)
            }
        case .bad(let place, let error):
            finish(entry, at: place, rejecting: error)
        case .file(let place, let uid, let bytes):
            do throws(RPCError) {
                let file = try SpoolFile.parse(bytes)
                let groups = groups.groups(of: uid, nowNanoseconds: clock.monotonicNanoseconds)
                return (place, SpooledSubmission(uid: uid, groups: groups, file: file))
            } catch {
                finish(entry, at: place, rejecting: error)
            }
        }
        return nil
    }

    private func settle(_ batch: [(entry: SpoolEntry, place: SpoolEntry)], _ errors: [RPCError?]) {
        isUnderway = false
        // What was recorded first: a pause that the others lead to lasts, and so does its reason.
        for ((entry, place), error) in zip(batch, errors) where error == nil { recorded(entry, at: place) }
        for ((entry, place), error) in zip(batch, errors) {
            guard let error else { continue }
            if Self.mayPass(error) {
                postpone(entry, at: place, because: error.message)
            } else {
                finish(entry, at: place, rejecting: error)
            }
        }
        postponeStuck()
        publish()
        eraseNext()
        schedule()
    }

    private func postponeStuck() {
        for (entry, place, reason) in stuck { postpone(entry, at: place, because: reason) }
        stuck = []
    }

    /// Whether the same file may be taken in later.
    static func mayPass(_ error: RPCError) -> Bool {
        [.queueFull, .rateLimited, .unavailable, .tooManyConnections, .internalError].contains(error.knownReason)
    }

    private func recorded(_ entry: SpoolEntry, at place: SpoolEntry) {
        do throws(SystemError) {
            try folder?.remove(place)
        } catch {
            // Its event is on disk, and its id says so at the next start.
            log(.warning, "a file that was taken in stays in the spool: \(error)")
        }
        report.takenIn += 1
        plan.finished(entry, isRecorded: true)
    }

    private func postpone(_ entry: SpoolEntry, at place: SpoolEntry, because reason: String) {
        let now = clock.read().monotonicMilliseconds
        plan.postponed(entry, now: place, because: reason, nowMilliseconds: now)
    }

    private func finish(_ entry: SpoolEntry, at place: SpoolEntry, rejecting error: RPCError) {
        if reject(place, label: entry.label, error) {
            plan.finished(entry, isRecorded: false)
        } else {
            stuck.append((entry, place, "a file is no good, and cannot be moved to the folder of the rejected"))
        }
    }

    /// Moves a file aside; false where that cannot be done now.
    func reject(_ place: SpoolEntry, label: String, _ error: RPCError) -> Bool {
        let rejection = SpoolRejection(
            atMilliseconds: clock.read().wallMilliseconds, uid: place.uid, file: label, reason: error.reason,
            message: error.message)
        do throws(SystemError) {
            if let failure = try rejects?.add(place, rejection) {
                log(.warning, "why a file of the spool was rejected cannot be written beside it: \(failure)")
            }
        } catch {
            log(.warning, "a file of the spool cannot be moved aside: \(error)")
            return false
        }
        if mayLog() {
            log(
                .warning, "a file of the spool was rejected: \(error.message)",
                ["file": label, "uid": "\(place.uid)", "reason": error.reason])
        }
        return true
    }

    /// A flood of bad files is none of lines in the log; status and the folder of the rejected have the rest.
    private func mayLog() -> Bool {
        let minute = clock.read().monotonicMilliseconds / 60_000
        if logged.minute != minute { logged = (minute, 0) }
        logged.lines += 1
        return logged.lines <= Self.loggedAMinute
    }

    // MARK: - Waiting and telling

    private func waitForPauses() {
        let now = clock.read().monotonicMilliseconds
        guard let time = plan.nextTry(nowMilliseconds: now), nextTry.map({ $0 > time }) ?? true else { return }
        nextTry = time
        after(milliseconds: time - now) { intake in
            if intake.nextTry == time { intake.nextTry = nil }
            intake.schedule()
        }
    }

    func publish() {
        report.waiting = plan.waiting
        report.waitingReasons = plan.reasons
        report.rejections = rejects?.all ?? []
        let report = report
        server.async { $0.spoolReport = report }
    }
}
