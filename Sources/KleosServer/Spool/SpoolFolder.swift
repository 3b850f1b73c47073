import Glibc
import KleosModel
import KleosSupport
import KleosWire

/// The spool's folder on disk: finds, takes and reads what others put there. Lives on the intake's queue.
///
/// A file is moved into the daemon's own folder before it is looked at, so that nobody can exchange it between the look
/// and its removal; what is in there when the daemon ends is taken up at the next start.
final class SpoolFolder {
    /// A file that was taken.
    enum Taken {
        /// It can be read: its bytes and its owner, at its new place.
        case file(SpoolEntry, uid: UInt32, bytes: [UInt8])
        /// It is no file that the spool takes.
        case bad(SpoolEntry, RPCError)
        /// It cannot be had now, and is tried again.
        case later(SpoolEntry, SystemError)
        /// Somebody else removed it, or it is not for the spool.
        case gone
    }

    /// The daemon's own folders in the spool.
    static let takingName = "taking"
    static let rejectedName = "rejected"
    /// What was begun and not finished for so long goes, seconds.
    private static let draftSeconds = 86_400

    let path: String
    private let spool: FileDescriptor
    private let taking: FileDescriptor
    let rejected: FileDescriptor
    /// The group of all files that are made in a spool for everybody; one of another group was made elsewhere, and
    /// whoever moved it here need not be its owner. Nil where only the daemon's user can write.
    private let groupID: UInt32?
    private var random: SeededGenerator

    /// Opens the spool at `path`, and makes it with `mode` where there is none. Throws `SystemError`.
    init(_ path: String, mode: mode_t, random: SeededGenerator) throws(SystemError) {
        self.path = path
        self.random = random
        try Self.make(path, mode: mode)
        spool = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        var status = stat()
        guard fstat(spool.number, &status) == 0 else { throw SystemError("look at \(path)") }
        groupID = status.st_mode & S_ISGID != 0 ? status.st_gid : nil
        taking = try Self.ownFolder(Self.takingName, in: spool, path: path)
        rejected = try Self.ownFolder(Self.rejectedName, in: spool, path: path)
    }

    private static func make(_ path: String, mode: mode_t) throws(SystemError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            // Only a folder's owner can take others' files out of one with the sticky bit.
            guard status.st_uid == geteuid() || geteuid() == 0 else {
                throw SystemError("take files out of \(path), which belongs to user \(status.st_uid)", code: EPERM)
            }
            return
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try Folder.make(String(path[..<slash]))
        }
        guard mkdir(path, 0o700) == 0 else { throw SystemError("make folder \(path)") }
        // mkdir gives neither the sticky nor the set-group bit.
        guard chmod(path, mode) == 0 else { throw SystemError("set the mode of \(path)") }
    }

    /// Opens the daemon's folder `name`, and makes it anew where somebody else put something in its place.
    private static func ownFolder(
        _ name: String, in spool: FileDescriptor, path: String
    ) throws(SystemError) -> FileDescriptor {
        for _ in 0..<2 {
            if mkdirat(spool.number, name, 0o700) != 0, errno != EEXIST {
                throw SystemError("make folder \(path)/\(name)")
            }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let number = Retry.onInterrupt { openat(spool.number, name, flags) }
            if number >= 0 {
                let folder = FileDescriptor(owning: number)
                var status = stat()
                if fstat(number, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 {
                    return folder
                }
            }
            let aside = "\(SpoolFile.draftPrefix)\(name).\(getpid()).foreign"
            guard renameat(spool.number, name, spool.number, aside) == 0 else {
                throw SystemError("move \(path)/\(name) aside, which is not the daemon's own")
            }
        }
        throw SystemError("make folder \(path)/\(name), which others put something in the place of", code: EEXIST)
    }

    /// A listing of the spool. Throws `SystemError`.
    func listing() throws(SystemError) -> FolderListing { try FolderListing(path) }

    /// A listing of what an earlier run of the daemon took. Throws `SystemError`.
    func takenListing() throws(SystemError) -> FolderListing { try FolderListing("\(path)/\(Self.takingName)") }

    /// A listing of what was rejected, notes included. Throws `SystemError`.
    func rejectedListing() throws(SystemError) -> FolderListing { try FolderListing("\(path)/\(Self.rejectedName)") }

    /// Where a file is, for people.
    func path(of entry: SpoolEntry) -> String {
        entry.isTaken ? "\(path)/\(Self.takingName)/\(entry.label)" : "\(path)/\(entry.label)"
    }

    /// The entry of this name; nil where it is gone, being written, a folder, or the daemon's own.
    func entry(named name: [CChar], isTaken: Bool = false, nowSeconds: Int) -> SpoolEntry? {
        let folder = isTaken ? taking : spool
        var status = stat()
        guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR {
            let label = SpoolEntry(name: name, uid: 0, bytes: 0).label
            // A folder that others made goes where it is empty; one with something in it only its owner can remove.
            if label != Self.takingName, label != Self.rejectedName { unlinkat(folder.number, name, AT_REMOVEDIR) }
            return nil
        }
        if !isTaken, Self.isDraft(name, status) {
            if nowSeconds - status.st_ctim.tv_sec > Self.draftSeconds { unlinkat(folder.number, name, 0) }
            return nil
        }
        return SpoolEntry(
            name: name, uid: status.st_uid, bytes: min(Int(clamping: status.st_size), SpoolFile.maximumBytes),
            isTaken: isTaken)
    }

    /// Whether this is a file that somebody writes: by its name, which it gets when it is whole.
    private static func isDraft(_ name: [CChar], _ status: stat) -> Bool {
        if name.first == CChar(bitPattern: UInt8(ascii: ".")) { return true }
        let isRegular = status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
        return isRegular && !name.dropLast().suffix(suffix.count).elementsEqual(suffix)
    }

    private static let suffix = SpoolFile.suffix.utf8.map { CChar(bitPattern: $0) }

    /// Whether there is something of this name that nobody will write to its end: a link, a pipe, a second name.
    func isIrregular(_ name: [CChar]) -> Bool {
        var status = stat()
        guard fstatat(spool.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1
    }

    /// Moves a file into the daemon's own folder, and reads it.
    func take(_ entry: SpoolEntry) -> Taken {
        var place = entry
        if !entry.isTaken {
            place.name = newName(for: entry)
            place.isTaken = true
            guard renameat(spool.number, entry.name, taking.number, place.name) == 0 else {
                if errno == ENOENT { return .gone }
                return .later(entry, SystemError("take \(path)/\(entry.label)"))
            }
        }
        return read(place)
    }

    /// Keeps the order of names, and is like no other.
    private func newName(for entry: SpoolEntry) -> [CChar] {
        let harmless = entry.name.dropLast().prefix(96).map { character -> UInt8 in
            let byte = UInt8(bitPattern: character)
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
            return isPlain || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") ? byte : UInt8(ascii: "_")
        }
        let number = String(random.next(), radix: 16)
        return (harmless + Array("~\(number)".utf8)).map { CChar(bitPattern: $0) } + [0]
    }

    private func read(_ place: SpoolEntry) -> Taken {
        var status = stat()
        guard fstatat(taking.number, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return errno == ENOENT ? .gone : .later(place, SystemError("look at \(place.label)"))
        }
        // Whatever stood there when the folder was listed.
        var place = place
        place.uid = status.st_uid
        if let flaw = flaw(status) { return .bad(place, flaw) }
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let number = Retry.onInterrupt { openat(taking.number, place.name, flags) }
        guard number >= 0 else {
            guard errno == EACCES || errno == EPERM || errno == ELOOP else {
                return .later(place, SystemError("open \(place.label)"))
            }
            let message = "the daemon may not read the file; write it with mode 0640"
            return .bad(place, RPCError(.notPermitted, message))
        }
        let file = FileDescriptor(owning: number)
        guard fstat(number, &status) == 0 else { return .later(place, SystemError("look at \(place.label)")) }
        if let flaw = flaw(status) { return .bad(place, flaw) }
        do throws(SystemError) {
            let bytes = try SmallFile.read(from: file, path: place.label, limitBytes: SpoolFile.maximumBytes)
            return .file(place, uid: status.st_uid, bytes: bytes)
        } catch {
            return error.code == EFBIG ? .bad(place, Self.tooLarge) : .later(place, error)
        }
    }

    private static let tooLarge = RPCError(
        .tooLarge, "a file in the spool has at most \(SpoolFile.maximumBytes) bytes")

    /// What is wrong with a file before it is read.
    private func flaw(_ status: stat) -> RPCError? {
        guard status.st_mode & S_IFMT == S_IFREG else {
            return RPCError(.invalidRequest, "this is no regular file, but a link, a pipe or the like")
        }
        guard status.st_nlink == 1 else {
            return RPCError(.invalidRequest, "the file has another name elsewhere (a hard link)")
        }
        if let groupID, status.st_gid != groupID {
            return RPCError(
                .notPermitted, "the file was made elsewhere and moved here; write it in the spool's own folder")
        }
        return status.st_size > SpoolFile.maximumBytes ? Self.tooLarge : nil
    }

    /// What stands in a file that waits, without taking it; nil where `take` has to say. It may be another file
    /// already.
    func peek(_ entry: SpoolEntry) -> [UInt8]? {
        guard let file = KeptFile.open(entry.name, O_RDONLY, in: spool) else { return nil }
        // What cannot be read is taken, which says why.
        return try? SmallFile.read(from: file, path: entry.label, limitBytes: SpoolFile.maximumBytes)
    }

    /// Removes a file that was taken for good. Throws `SystemError`.
    func erase(_ taken: SpoolEntry) throws(SystemError) {
        try KeptFile.erase(taken.name, in: taking, path: path(of: taken))
    }

    /// Makes durable what was removed. Throws `SystemError`.
    func sync() throws(SystemError) {
        for folder in [spool, taking, rejected] {
            guard fsync(folder.number) == 0 else { throw SystemError("sync the spool \(path)") }
        }
    }

    /// Removes a file that was taken; one that stays is a duplicate at the next start. Throws `SystemError`.
    func remove(_ taken: SpoolEntry) throws(SystemError) {
        guard unlinkat(taking.number, taken.name, 0) == 0 || errno == ENOENT else {
            throw SystemError("remove \(path(of: taken))")
        }
    }

    /// Moves a file that was taken among the rejected, under its name; what no event can be is removed. Throws
    /// `SystemError`.
    func moveToRejected(_ taken: SpoolEntry) throws(SystemError) {
        var status = stat()
        guard fstatat(taking.number, taken.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        let isKept = status.st_mode & S_IFMT == S_IFREG && status.st_size <= SpoolFile.maximumBytes
        guard isKept else { return try remove(taken) }
        guard renameat(taking.number, taken.name, rejected.number, taken.name) == 0 else {
            throw SystemError("move \(taken.label) to \(path)/\(Self.rejectedName)")
        }
    }
}
