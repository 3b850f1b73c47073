import Glibc
package import KleosModel
package import KleosSupport

/// The notices that were shown and perhaps not acknowledged yet, which must not be shown again: in memory and, so that
/// they outlive the agent, in a file.
package final class ShownNotices {
    private var keys: Set<EventKey> = []
    private let file: FileDescriptor?
    private let log: Log

    /// More than these are not taken over from an earlier run.
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
        } catch {
            log(.warning, "after a crash of the agent a notice may be shown twice: \(error)")
        }
    }

    /// Forgets notices that the daemon knows as shown.
    package func remove(_ acknowledged: [EventKey]) {
        keys.subtract(acknowledged)
        // Nearly always everything is acknowledged at once; what stays in the file meanwhile does no harm.
        if keys.isEmpty, let file { ftruncate(file.number, 0) }
    }
}
