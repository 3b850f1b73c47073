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
    private let reader: any DispatchSourceRead
    private let writer: any DispatchSourceWrite
    private let handler: @Sendable (Event) -> Void
    private var framer = LineFramer(maximumBytes: Limits.answerBytes)
    private var output: [UInt8] = []
    private var isWriting = false
    private var isClosed = false

    /// Takes over a connected socket. Throws `SystemError`.
    init(
        _ descriptor: FileDescriptor, queue: DispatchQueue, handler: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) {
        try descriptor.setNonBlocking()
        self.descriptor = descriptor
        self.handler = handler
        reader = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        writer = DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: queue)
        start()
    }

    private func start() {
        // The descriptor stays open until both sources are cancelled, which `close` does.
        let descriptor = descriptor
        reader.setCancelHandler { _ = descriptor }
        writer.setCancelHandler { _ = descriptor }
        reader.setEventHandler { [weak self] in self?.read() }
        writer.setEventHandler { [weak self] in self?.flush() }
        reader.activate()
    }

    deinit {
        close()
        // Dispatch traps when a suspended source is released.
        if !isWriting { writer.resume() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        reader.cancel()
        writer.cancel()
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
        if isNeeded { writer.resume() } else { writer.suspend() }
    }

    /// Reads all that there is: of a daemon that closed, Dispatch tells only once, and its last answers come before the
    /// end.
    private func read() {
        while !isClosed {
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
}
