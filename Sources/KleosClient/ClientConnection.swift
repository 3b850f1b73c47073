import Dispatch
import Glibc
import KleosModel
import KleosSupport
import KleosWire

/// One non-blocking connection of a client; used on the session's queue only.
final class ClientConnection {
    /// What came.
    enum Event: Sendable {
        case line([UInt8])
        case ended
    }

    private let descriptor: FileDescriptor
    private let watch: SocketWatch
    private let handler: @Sendable (Event) -> Void
    private var framer = LineFramer(maximumBytes: Limits.answerBytes)
    private var output: [UInt8] = []
    private var isWriting = false
    private var isClosed = false

    /// Takes over a connected socket. When there is something to do, `ready` is called on `queue`, and calls `proceed`.
    /// Throws `SystemError`.
    init(
        _ descriptor: FileDescriptor, queue: DispatchQueue, ready: @escaping @Sendable (Readiness) -> Void,
        handler: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) {
        try descriptor.setNonBlocking()
        self.descriptor = descriptor
        self.handler = handler
        watch = try SocketWatch(descriptor, on: SocketPoller(queue: queue), handler: ready)
        watch.resume(.read)
    }

    func close() {
        isClosed = true
        watch.cancel()
    }

    /// Reads and writes what can be now. What the daemon said before it closed comes before the end.
    func proceed(_ ready: Readiness) {
        if ready.contains(.read) { read() }
        if ready.contains(.write), !isClosed { flush() }
    }

    func write(_ bytes: [UInt8]) {
        output += bytes
        if !isWriting { flush() }
    }

    private func flush() {
        while !output.isEmpty {
            // Sound: the kernel reads the buffer during the call only, and no more than its count.
            let count = output.withUnsafeBytes { buffer in
                Retry.onInterrupt { send(descriptor.number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL)) }
            }
            if count > 0 {
                output.removeFirst(count)
            } else if errno == EAGAIN {
                return wait(true)
            } else {
                return handler(.ended)
            }
        }
        wait(false)
    }

    private func wait(_ isNeeded: Bool) {
        guard isNeeded != isWriting else { return }
        isWriting = isNeeded
        if isNeeded { watch.resume(.write) } else { watch.suspend(.write) }
    }

    private func read() {
        do throws(SystemError) {
            let bytes = try descriptor.read(limitBytes: 65_536)
            guard !bytes.isEmpty else { return handler(.ended) }
            framer.append(bytes)
        } catch {
            if error.code != EAGAIN { handler(.ended) }
            return
        }
        while !isClosed, let frame = framer.next() {
            guard case .line(let line) = frame else { return handler(.ended) }
            handler(.line(line))
        }
    }
}
