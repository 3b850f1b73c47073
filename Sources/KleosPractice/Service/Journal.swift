import Glibc
import KleosJSON
import KleosModel
import KleosSupport

/// An append-only file of what took effect, one JSON object a line.
///
/// A line is on disk before its answer goes out; a torn last line belongs to an unanswered request and is cut off.
struct Journal: Sendable {
    private let file: FileDescriptor
    private let path: String
    private var pending: [UInt8] = []

    /// Why a store cannot be used.
    struct DamageError: Error, CustomStringConvertible {
        let path: String
        let line: Int
        let problem: String

        var description: String {
            "\(path): line \(line): \(problem); move the file away to begin with an empty store"
        }
    }

    /// Opens the journal in `folder`, which is made where it is missing, and replays it into `store`.
    /// Throws `SystemError` or `DamageError`.
    init(folder: String, store: inout PracticeStore) throws {
        try Folder.make(folder)
        path = "\(folder)/journal.jsonl"
        file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW)
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            throw SystemError("lock \(path), which another practice endpoint uses")
        }
        try SmallFile.syncFolder(of: path)
        let bytes = try SmallFile.read(from: file, path: path, limitBytes: 1 << 31)
        let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        for (index, line) in bytes[..<end].split(separator: 0x0A).enumerated() {
            do {
                try Self.replay(Array(line), into: &store)
            } catch {
                throw DamageError(path: path, line: index + 1, problem: "\(error)")
            }
        }
        if end < bytes.count, ftruncate(file.number, end) != 0 { throw SystemError("cut off the torn end of \(path)") }
    }

    private static func replay(_ line: [UInt8], into store: inout PracticeStore) throws {
        let record = try JSONParser.parse(line)
        guard let path = record["path"]?.stringValue, let body = record["body"],
            let fingerprint = record["fingerprint"]?.stringValue.flatMap({ UInt64($0, radix: 16) })
        else { throw Rejection(500, "invalid-record", "not a record of this journal") }
        let submission = try path == "/v1/scores" ? Submission(score: body) : Submission(achievement: body)
        _ = try store.accept(submission, fingerprint: fingerprint)
    }

    /// Whether `sync` has something to do.
    var hasPending: Bool { !pending.isEmpty }

    /// Adds a record; `sync` makes it durable.
    mutating func append(path: String, body: [UInt8], parsed: JSONValue, fingerprint: UInt64) {
        pending += "{\"path\":\"\(path)\",\"fingerprint\":\"\(String(fingerprint, radix: 16))\",\"body\":".utf8
        // Space between tokens may hold line feeds, which would break the record in two.
        if body.contains(0x0A) || body.contains(0x0D) { pending += parsed.serializedBytes } else { pending += body }
        pending += "}\n".utf8
    }

    /// Writes and syncs what was added. Throws `SystemError`; then no answer that waits for it may go out.
    mutating func sync() throws(SystemError) {
        guard hasPending else { return }
        try file.writeAll(pending)
        pending.removeAll(keepingCapacity: true)
        guard fdatasync(file.number) == 0 else { throw SystemError("sync \(path)") }
    }
}
