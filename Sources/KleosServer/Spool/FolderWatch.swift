import Dispatch
import Glibc
import KleosSupport

/// Tells which names come into a folder (inotify(7)), on a queue, without any timer.
final class FolderWatch {
    /// What happened.
    enum Event: Sendable {
        /// Files of these names were moved in, or written to their end.
        case names([[CChar]])
        /// These names were made; files among them may still be written.
        case made([[CChar]])
        /// More happened than the kernel kept: the folder has to be listed.
        case overflow
        /// The folder is gone; nothing more is told.
        case ended
    }

    private let source: any DispatchSourceRead

    /// Calls `handler` on `queue`. Throws `SystemError`.
    init(
        _ path: String, queue: DispatchQueue, handler: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { throw SystemError("watch \(path)") }
        let descriptor = FileDescriptor(owning: number)
        let mask = UInt32(
            IN_MOVED_TO | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)
        guard inotify_add_watch(number, path, mask) >= 0 else { throw SystemError("watch \(path)") }
        source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        source.setEventHandler { Self.read(descriptor, handler) }
        // The descriptor stays open until Dispatch is done with it.
        source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        source.activate()
    }

    deinit {
        cancel()
    }

    /// Tells nothing more.
    func cancel() {
        source.cancel()
    }

    private static func read(_ descriptor: FileDescriptor, _ handler: @Sendable (Event) -> Void) {
        do throws(SystemError) {
            let events = parse(try descriptor.read(limitBytes: 65_536))
            for event in events { handler(event) }
        } catch {
            if error.code != EAGAIN { handler(.overflow) }
        }
    }

    /// Reads the kernel's records: a watch, a mask, a cookie and a length of 32 bits each, then the name, padded with
    /// zeros.
    static func parse(_ bytes: [UInt8]) -> [Event] {
        var events: [Event] = []
        var names: [[CChar]] = []
        var made: [[CChar]] = []
        var offset = 0
        let header = MemoryLayout<inotify_event>.size
        while offset + header <= bytes.count {
            // Sound: a whole record's head lies at the offset; loadUnaligned copies it.
            let record = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
            let end = min(bytes.count, offset + header + Int(record.len))
            let name = bytes[(offset + header)..<end].prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
            offset = end
            if record.mask & UInt32(IN_Q_OVERFLOW) != 0 { events.append(.overflow) }
            if record.mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0 { events.append(.ended) }
            if name.isEmpty { continue }
            if record.mask & UInt32(IN_CREATE) != 0 { made.append(name + [0]) } else { names.append(name + [0]) }
        }
        if !made.isEmpty { events.insert(.made(made), at: 0) }
        if !names.isEmpty { events.insert(.names(names), at: 0) }
        return events
    }
}
