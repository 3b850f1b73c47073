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
        let path = "\(folder.path)/\(SpoolFolder.rejectedName)"
        kept = try Folder.names(in: path).filter { $0.hasSuffix(Self.errorSuffix) }.map { name in
            let file = String(name.dropLast(Self.errorSuffix.utf8.count))
            return Kept(name: Self.terminated(file), rejection: Self.rejection(at: "\(path)/\(name)", file: file))
        }
        kept.sort { $0.rejection.atMilliseconds < $1.rejection.atMilliseconds }
    }

    /// An error's file that cannot be read (a power cut may have emptied it) is the oldest of all.
    private static func rejection(at path: String, file: String) -> SpoolRejection {
        if let bytes = try? SmallFile.read(at: path, limitBytes: errorBytes), let json = try? JSONParser.parse(bytes),
            let rejection = SpoolRejection(json: json)
        {
            return rejection
        }
        return SpoolRejection(
            atMilliseconds: 0, uid: 0, file: file, reason: ErrorReason.internalError.rawValue,
            message: "the note that said why was lost")
    }

    /// Moves a file that was taken aside, with the error beside it. Throws `SystemError`; then it stays where it is.
    func add(_ taken: SpoolEntry, _ rejection: SpoolRejection) throws(SystemError) {
        // The note first: a crash in between leads to the same rejection again.
        try write(rejection, for: taken.name)
        try folder.moveToRejected(taken)
        kept.removeAll { $0.name == taken.name }
        kept.append(Kept(name: taken.name, rejection: rejection))
        removeSurplus(of: rejection.uid)
    }

    private func write(_ rejection: SpoolRejection, for name: [CChar]) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let number = Retry.onInterrupt { openat(folder.rejected.number, Self.errorName(name), flags, mode_t(0o600)) }
        guard number >= 0 else { throw SystemError("write \(folder.path)/\(SpoolFolder.rejectedName)") }
        try FileDescriptor(owning: number).writeAll(rejection.json.serializedBytes + [UInt8(ascii: "\n")])
    }

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
