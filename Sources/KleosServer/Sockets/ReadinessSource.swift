import Dispatch
import KleosSupport

/// A Dispatch source for one direction of a descriptor that can be suspended and cancelled in any order.
///
/// Lives on the queue that it is made for. The descriptor stays open until the cancellation is through.
final class ReadinessSource {
    enum Direction {
        case read
        case write
    }

    private let source: any DispatchSourceProtocol
    private var isRunning = false
    private var isCancelled = false

    /// Makes a source that does nothing before `resume`.
    init(
        _ direction: Direction, of descriptor: FileDescriptor, queue: DispatchQueue,
        handler: @escaping @Sendable () -> Void
    ) {
        source =
            switch direction {
            case .read: DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
            case .write: DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: queue)
            }
        source.setEventHandler(handler: DispatchWorkItem(block: handler))
        let keepsOpen: @Sendable () -> Void = { withExtendedLifetime(descriptor) {} }
        source.setCancelHandler(handler: DispatchWorkItem(block: keepsOpen))
    }

    deinit {
        cancel()
    }

    func resume() {
        guard !isRunning, !isCancelled else { return }
        isRunning = true
        source.resume()
    }

    func suspend() {
        guard isRunning, !isCancelled else { return }
        isRunning = false
        source.suspend()
    }

    func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        source.cancel()
        // Dispatch traps when a suspended source is released, and runs its cancel handler only after it is resumed.
        if !isRunning { source.resume() }
    }
}
