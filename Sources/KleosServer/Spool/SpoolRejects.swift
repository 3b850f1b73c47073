import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// What was rejected: each file in the spool's folder `rejected`, and beside it the error. The oldest go when there are
/// too many. Lives on the intake's queue.
final class SpoolRejects {
    /// How much is kept.
    struct Limits {
        var perUser = 100
        var inAll = 1_000
        var milliseconds: Int64 = 30 * 86_400_000
    }

    private struct Kept {
        var name: [CChar]
        var rejection: SpoolRejection
    }

    private static let errorSuffix = ".error"
    private static let errorBytes = 8_192

    private let folder: SpoolFolder
    private let limits: Limits
    /// The oldest first.
    private var kept: [Kept] = []

    init(_ folder: SpoolFolder, limits: Limits = Limits()) {
        self.folder = folder
        self.limits = limits
    }

    /// All that is kept, the oldest first.
    var all: [SpoolRejection] { kept.map(\.rejection) }

    /// Reads what earlier runs of the daemon left. Throws `SystemError`.
    func load() throws(SystemError) {
        let names = try Folder.names(in: "\(folder.path)/\(SpoolFolder.rejectedName)").filter { !$0.hasPrefix(".") }
        let files = names.map { $0.hasSuffix(Self.errorSuffix) ? String($0.dropLast(Self.errorSuffix.utf8.count)) : $0 }
        kept = Set(files).map { Kept(name: Self.terminated($0), rejection: rejection(of: $0)) }
        kept.sort { $0.rejection.atMilliseconds < $1.rejection.atMilliseconds }
    }

    /// What the note beside a file says; where there is none (a power cut may have emptied it, a full disk refused it),
    /// what the file itself tells.
    private func rejection(of file: String) -> SpoolRejection {
        let note = path(of: Self.errorName(Self.terminated(file)))
        if let bytes = try? SmallFile.read(at: note, limitBytes: Self.errorBytes),
            let json = try? JSONParser.parse(bytes), let rejection = SpoolRejection(json: json)
        {
            return rejection
        }
        var status = stat()
        let isThere = fstatat(folder.rejected.number, file, &status, AT_SYMLINK_NOFOLLOW) == 0
        return SpoolRejection(
            atMilliseconds: isThere ? Int64(status.st_ctim.tv_sec) * 1_000 : 0, uid: isThere ? status.st_uid : 0,
            file: file, reason: ErrorReason.internalError.rawValue, message: "the note that said why was lost")
    }

    /// Moves a file that was taken aside, with the error beside it; returns why there is no error beside it, if so: a
    /// full disk lets a file be moved when it takes no note, and a bad file holds up no other. Throws `SystemError`;
    /// then the file stays where it is.
    func add(_ taken: SpoolEntry, _ rejection: SpoolRejection) throws(SystemError) -> SystemError? {
        var failure: SystemError?
        do throws(SystemError) {
            // The note first: a crash in between leads to the same rejection again.
            try write(rejection, for: taken.name)
        } catch {
            unlinkat(folder.rejected.number, Self.errorName(taken.name), 0)
            failure = error
        }
        try folder.moveToRejected(taken)
        kept.removeAll { $0.name == taken.name }
        kept.append(Kept(name: taken.name, rejection: rejection))
        removeSurplus(of: rejection.uid)
        return failure
    }

    private func write(_ rejection: SpoolRejection, for name: [CChar]) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let note = Self.errorName(name)
        let number = Retry.onInterrupt { openat(folder.rejected.number, note, flags, mode_t(0o600)) }
        guard number >= 0 else { throw SystemError("write \(path(of: note))") }
        try FileDescriptor(owning: number).writeAll(
            rejection.json.serializedBytes + [UInt8(ascii: "\n")], path: path(of: note))
    }

    // MARK: Erasing

    /// Where a rejected file is, for people.
    func path(of name: [CChar]) -> String {
        let label = SpoolEntry(name: name, uid: 0, bytes: 0).label
        return "\(folder.path)/\(SpoolFolder.rejectedName)/\(label)"
    }

    /// What stands in a rejected file, or why it cannot be read; nil for a note and for what is gone.
    func peek(_ name: [CChar]) -> Result<[UInt8], SystemError>? {
        let label = SpoolEntry(name: name, uid: 0, bytes: 0).label
        var status = stat()
        guard !label.hasPrefix("."), !label.hasSuffix(Self.errorSuffix),
            fstatat(folder.rejected.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        else { return nil }
        guard let file = KeptFile.open(name, O_RDONLY, in: folder.rejected) else {
            return .failure(SystemError("read \(path(of: name))", code: EACCES))
        }
        return Result { () throws(SystemError) in
            try SmallFile.read(from: file, path: path(of: name), limitBytes: SpoolFile.maximumBytes)
        }
    }

    /// Removes a rejected file for good, and the note beside it. Throws `SystemError`.
    func erase(_ name: [CChar]) throws(SystemError) {
        try KeptFile.erase(name, in: folder.rejected, path: path(of: name))
        kept.removeAll { $0.name == name }
        try KeptFile.erase(Self.errorName(name), in: folder.rejected, path: path(of: Self.errorName(name)))
    }

    /// Leaves only `rest` of a rejected file. Throws `SystemError`.
    func replace(_ name: [CChar], with rest: [UInt8]) throws(SystemError) {
        try KeptFile.replace(name, with: rest, in: folder.rejected, path: path(of: name))
    }

    // MARK: Limits

    private func removeSurplus(of uid: UInt32) {
        let own = kept.indices.filter { kept[$0].rejection.uid == uid }
        if own.count > limits.perUser, let oldest = own.first { remove(at: oldest) }
        if kept.count > limits.inAll { remove(at: 0) }
    }

    /// Removes what has been kept long enough; returns whether something went.
    @discardableResult
    func expire(wallMilliseconds: Int64) -> Bool {
        let count = kept.count
        while let oldest = kept.first, oldest.rejection.atMilliseconds < wallMilliseconds - limits.milliseconds {
            remove(at: 0)
        }
        return kept.count < count
    }

    private func remove(at index: Int) {
        let name = kept.remove(at: index).name
        // What cannot be removed is found again at the next start.
        unlinkat(folder.rejected.number, name, 0)
        unlinkat(folder.rejected.number, Self.errorName(name), 0)
    }

    private static func errorName(_ name: [CChar]) -> [CChar] {
        name.dropLast() + errorSuffix.utf8.map { CChar(bitPattern: $0) } + [0]
    }

    private static func terminated(_ name: String) -> [CChar] {
        name.utf8.map { CChar(bitPattern: $0) } + [0]
    }
}
