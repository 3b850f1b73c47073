import Glibc
package import KleosModel
package import KleosSupport

/// The notices that were shown and perhaps not acknowledged yet, which must not be shown again: in memory and, so that
/// they outlive the agent, in a file.
package final class ShownNotices {
    private var keys: Set<EventKey> = []
    private let file: FileDescriptor?
    private let log: Log
    /// The lines of the file.
    private var lineCount = 0

    /// More than these are not kept; the oldest are forgotten. Some are never acknowledged, because another route was
    /// faster meanwhile.
    private static let maximumKeys = 1_000

    /// Takes over what an earlier run left in the file at `path`; nil keeps them in memory only.
    package init(path: String?, log: Log) {
        self.log = log
        guard let path else {
            file = nil
            return
        }
        do throws(SystemError) {
            if let slash = path.lastIndex(of: "/") { try Folder.make(String(path[..<slash])) }
            let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
            let bytes = try SmallFile.read(from: file, path: path, limitBytes: 1 << 20)
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            keys = Set(lines.suffix(Self.maximumKeys).compactMap { EventKey(String($0)) })
            lineCount = lines.count
            self.file = file
        } catch {
            log(.warning, "after a crash of the agent a notice may be shown twice: \(error)")
            file = nil
        }
    }

    /// Whether the notice of this event was shown.
    package func contains(_ key: EventKey) -> Bool { keys.contains(key) }

    /// Takes note that a notice was shown.
    package func insert(_ key: EventKey) {
        keys.insert(key)
        do throws(SystemError) {
            try file?.writeAll(Array("\(key)\n".utf8))
            lineCount += 1
            if lineCount > 2 * Self.maximumKeys { try forgetOldest() }
        } catch {
            log(.warning, "after a crash of the agent a notice may be shown twice: \(error)")
        }
    }

    /// Leaves the newest in memory and in the file.
    private func forgetOldest() throws(SystemError) {
        // A key begins with its time.
        let kept = keys.sorted { $0.description < $1.description }.suffix(Self.maximumKeys)
        keys = Set(kept)
        lineCount = kept.count
        guard let file else { return }
        ftruncate(file.number, 0)
        try file.writeAll(Array(kept.map { "\($0)\n" }.joined().utf8))
    }

    /// Forgets notices that the daemon knows as shown.
    package func remove(_ acknowledged: [EventKey]) {
        keys.subtract(acknowledged)
        // Nearly always everything is acknowledged at once; what stays in the file meanwhile does no harm.
        if keys.isEmpty, let file {
            ftruncate(file.number, 0)
            lineCount = 0
        }
    }
}
