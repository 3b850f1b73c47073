import Glibc
import KleosSupport
import KleosWire

/// Passes over the spool, a piece at a time, and erases one player's events: from what waits, what was taken and what
/// was rejected, in this order, which is the only way that files go. Lives on the intake's queue.
final class SpoolEraser {
    private enum Part {
        case waiting
        case taken
        case rejected
    }

    private static let namesInTurn = 256

    /// What it has come to so far.
    private(set) var result: SpoolErasure
    private let subject: SpoolSubject
    private let folder: SpoolFolder
    private let rejects: SpoolRejects
    private var parts: [Part] = [.waiting, .taken, .rejected]
    private var listing: FolderListing?

    init(_ subject: SpoolSubject, _ folder: SpoolFolder, _ rejects: SpoolRejects, quietMilliseconds: Int64) {
        self.subject = subject
        self.folder = folder
        self.rejects = rejects
        result = SpoolErasure(quietMilliseconds: quietMilliseconds)
    }

    /// What becomes of a file that was moved for a closer look and is not erased.
    struct Handlers {
        /// It is taken in later, from where it is now.
        var keep: (SpoolEntry) -> Void
        /// It goes to the rejected, under the name that it had; false where that cannot be done.
        var reject: (_ place: SpoolEntry, _ label: String, RPCError) -> Bool
    }

    /// Looks at the next files; false when all is done. Throws `SystemError`.
    func step(nowSeconds: Int, _ handlers: Handlers) throws(SystemError) -> Bool {
        guard let part = parts.first else { return false }
        let names = try names(of: part)
        if names.isEmpty {
            listing = nil
            parts.removeFirst()
            if parts.isEmpty { try folder.sync() }
            return !parts.isEmpty
        }
        for name in names {
            switch part {
            case .waiting, .taken:
                let isTaken = part == .taken
                if let entry = folder.entry(named: name, isTaken: isTaken, nowSeconds: nowSeconds) {
                    look(at: entry, handlers)
                }
            case .rejected: lookAtRejected(name)
            }
        }
        return true
    }

    private func names(of part: Part) throws(SystemError) -> [[CChar]] {
        if listing == nil {
            listing =
                switch part {
                case .waiting: try folder.listing()
                case .taken: try folder.takenListing()
                case .rejected: try folder.rejectedListing()
                }
        }
        return listing?.next(Self.namesInTurn) ?? []
    }

    /// Others may still exchange what waits: only after it was taken does its content decide.
    private func look(at entry: SpoolEntry, _ handlers: Handlers) {
        if !entry.isTaken, let bytes = folder.peek(entry), subject.judge(bytes).isKept { return }
        switch folder.take(entry) {
        case .gone: break
        case .later(let place, let error):
            result.name("\(folder.path(of: place)): \(error)")
            if place.isTaken { handlers.keep(place) }
        case .bad(let place, let error): reject(place, entry.label, error, handlers)
        case .file(let place, _, let bytes):
            settle(place, entry.label, bytes, handlers)
        }
    }

    private func settle(_ place: SpoolEntry, _ label: String, _ bytes: [UInt8], _ handlers: Handlers) {
        let verdict = subject.judge(bytes)
        if verdict.isKept { return handlers.keep(place) }
        if verdict.rest.isEmpty { return erase(place, events: verdict.erased) }
        do throws(RPCError) {
            _ = try SpoolFile.parse(bytes)
            handlers.keep(place)
        } catch {
            // Among the rejected it is looked through once more, and the rest stays.
            reject(place, label, error, handlers)
        }
    }

    private func reject(_ place: SpoolEntry, _ label: String, _ error: RPCError, _ handlers: Handlers) {
        guard !handlers.reject(place, label, error) else { return }
        result.name(folder.path(of: place))
        handlers.keep(place)
    }

    private func erase(_ place: SpoolEntry, events: Int) {
        do throws(SystemError) {
            try folder.erase(place)
            result.events += events
        } catch {
            result.name("\(folder.path(of: place)): \(error)")
        }
    }

    private func lookAtRejected(_ name: [CChar]) {
        guard let bytes = rejects.peek(name) else { return }
        do throws(SystemError) {
            let verdict = subject.judge(try bytes.get())
            if verdict.isUnclear { result.name(rejects.path(of: name)) }
            guard verdict.erased > 0 else { return }
            if verdict.rest.isEmpty {
                try rejects.erase(name)
            } else {
                try rejects.replace(name, with: verdict.rest)
            }
            result.events += verdict.erased
        } catch {
            result.name("\(rejects.path(of: name)): \(error)")
        }
    }
}
