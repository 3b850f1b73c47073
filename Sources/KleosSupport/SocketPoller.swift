import CLinux
package import Dispatch
import Glibc
import Synchronization

/// Watches the sockets of one queue through an epoll descriptor of its own (epoll(7)), the only one that Dispatch sees.
///
/// For a descriptor that hangs up, Dispatch's epoll loop frees its record on one thread while another may still walk
/// through it, and hanging up cannot be masked. An epoll descriptor never hangs up.
package final class SocketPoller: Sendable {
    private struct Entry {
        let descriptor: FileDescriptor
        let handler: @Sendable (Readiness) -> Void
        var interest: Readiness = []
    }

    private struct State {
        var lastID: UInt64 = 0
        var entries: [UInt64: Entry] = [:]
    }

    /// Sockets that are told of in one turn of the queue.
    private static let turnEvents = 32

    private let epoll: FileDescriptor
    // Sound: only init and deinit touch it, and Dispatch's own objects may be used from any thread.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let state = Mutex(State())

    /// Makes a poller whose watches call their handlers on `queue`. Throws `SystemError`.
    package init(queue: DispatchQueue) throws(SystemError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SystemError("make an epoll descriptor") }
        let epoll = FileDescriptor(owning: number)
        self.epoll = epoll
        source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        source.setEventHandler { [weak self] in self?.poll() }
        // The descriptor stays open until Dispatch is done with it.
        source.setCancelHandler { withExtendedLifetime(epoll) {} }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func add(
        _ descriptor: FileDescriptor, _ handler: @escaping @Sendable (Readiness) -> Void
    ) throws(SystemError) -> UInt64 {
        try state.withLock { state throws(SystemError) in
            let id = state.lastID + 1
            guard control(EPOLL_CTL_ADD, descriptor, id, []) == 0 else { throw SystemError("watch a socket") }
            state.lastID = id
            state.entries[id] = Entry(descriptor: descriptor, handler: handler)
            return id
        }
    }

    func change(_ id: UInt64, _ edit: (inout Readiness) -> Void) {
        state.withLock { state in
            guard var entry = state.entries[id] else { return }
            let before = entry.interest
            edit(&entry.interest)
            guard entry.interest != before else { return }
            let result = control(EPOLL_CTL_MOD, entry.descriptor, id, entry.interest)
            precondition(result == 0, "a watched descriptor stays open and in its epoll set")
            state.entries[id] = entry
        }
    }

    func remove(_ id: UInt64) {
        // Let go of outside of the lock: a handler may hold the last reference to something that has watches.
        let removed = state.withLock { state -> Entry? in
            guard let entry = state.entries.removeValue(forKey: id) else { return nil }
            let result = control(EPOLL_CTL_DEL, entry.descriptor, id, [])
            precondition(result == 0, "a watched descriptor stays open and in its epoll set")
            return entry
        }
        withExtendedLifetime(removed) {}
    }

    private func control(_ operation: Int32, _ descriptor: FileDescriptor, _ id: UInt64, _ interest: Readiness) -> Int32
    {
        // A hang-up is told even where nothing is asked for: once only, so that it does not keep the queue busy.
        var events = interest.isEmpty ? EPOLLET.rawValue : 0
        if interest.contains(.read) { events |= EPOLLIN.rawValue }
        if interest.contains(.write) { events |= EPOLLOUT.rawValue }
        var event = epoll_event(events: events, data: epoll_data_t(u64: id))
        return epoll_ctl(epoll.number, operation, descriptor.number, &event)
    }

    private func poll() {
        var events = [epoll_event](repeating: epoll_event(), count: Self.turnEvents)
        let count = Retry.onInterrupt { epoll_wait(epoll.number, &events, Int32(Self.turnEvents), 0) }
        precondition(count >= 0, "an epoll descriptor can be waited for")
        for event in events.prefix(Int(count)) {
            // A handler of this turn may have changed or removed the next one's watch.
            guard let entry = state.withLock({ $0.entries[event.data.u64] }) else { continue }
            let ready = Readiness(epoll: event.events).intersection(entry.interest)
            if !ready.isEmpty { entry.handler(ready) }
        }
    }
}
