import Glibc
package import KleosModel
package import KleosSupport
import KleosWire
import Synchronization

/// Why an event could not be put into a spool.
package enum SpoolError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No daemon has made a spool at any of the places.
    case noFolder([String])
    /// The event has more bytes than a file of the spool may have.
    case tooLarge
    /// Writing failed.
    case system(SystemError)

    package var description: String {
        switch self {
        case .noFolder(let places):
            "no kleos daemon has made a spool (looked for \(places.joined(separator: ", ")))"
        case .tooLarge: "the event has more than \(SpoolFile.maximumBytes) bytes"
        case .system(let error): error.description
        }
    }
}

/// The folder in which clients leave events while no daemon answers; the daemon takes them in when it does.
package struct EventSpool: Sendable {
    /// The folders to try, best first.
    package let candidates: [String]

    /// Makes a spool that uses the first of `candidates` that is there.
    package init(candidates: [String]) {
        self.candidates = candidates
    }

    /// Writes an event, which must have an id, so that it is on disk when the call returns; returns the file's path.
    ///
    /// Where it does not say when it was taken over, that is now.
    /// The folder is never made here: one that no daemon made is one that no daemon looks at. Throws `SpoolError`.
    package func write(_ submission: Submission) throws(SpoolError) -> String {
        let now = SystemClock().read().wallMilliseconds
        let moment = Self.moments.withLock { $0.next(submission.takenOverAtMilliseconds ?? now) }
        let bytes = SpoolFile(submission, spooledAtMilliseconds: moment).bytes
        guard bytes.count <= SpoolFile.maximumBytes else { throw .tooLarge }
        guard let folder = candidates.first(where: Folder.exists) else { throw .noFolder(candidates) }
        var random = SeededGenerator.unpredictable()
        let fresh = EventKey.version7(wallMilliseconds: now, random: &random)
        let path = "\(folder)/\(SpoolFile.name(clientID: submission.clientID, fresh: fresh))"
        do throws(SystemError) {
            try Self.write(bytes, to: path, draft: "\(folder)/\(SpoolFile.draftPrefix)\(fresh).new")
        } catch {
            throw .system(error)
        }
        return path
    }

    private static let moments = Mutex(SpoolMoments())

    private static func write(_ bytes: [UInt8], to path: String, draft: String) throws(SystemError) {
        let file = try FileDescriptor.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o640)
        do throws(SystemError) {
            // The daemon's group reads it, whatever the umask.
            guard fchmod(file.number, 0o640) == 0 else { throw SystemError("set the mode of \(draft)") }
            try file.writeAll(bytes, path: draft)
            guard fsync(file.number) == 0 else { throw SystemError("sync \(draft)") }
            guard rename(draft, path) == 0 else { throw SystemError("rename \(draft) to \(path)") }
        } catch {
            unlink(draft)
            throw error
        }
        try syncName(of: file, path)
    }

    /// Makes the rename durable. The system's spool can be written and not read, so that its folder cannot be opened
    /// to be synced; a second sync of the file writes its changed name as well where the file system has a journal.
    private static func syncName(of file: FileDescriptor, _ path: String) throws(SystemError) {
        do throws(SystemError) {
            try SmallFile.syncFolder(of: path)
        } catch  where error.code == EACCES {
            guard fsync(file.number) == 0 else { throw SystemError("sync \(path)") }
        }
    }
}
