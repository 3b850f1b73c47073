import Glibc
import KleosSupport

/// One connection of the event loop: what came and what is to go out.
final class HTTPConnection {
    /// What happens when all output has gone out.
    enum Ending {
        /// The next request.
        case none
        /// An orderly end: the peer sees the end of the stream; what it still sends is thrown away for a moment,
        /// because closing with unread input would reset the connection and could destroy the answer.
        case orderly
        /// The descriptor is closed.
        case close
        /// The connection is reset.
        case reset
    }

    /// Output beyond this is not added to by further requests.
    static let outputLimitBytes = 1 << 20
    static let inputLimitBytes = 1 << 20

    let descriptor: FileDescriptor
    var parser = HTTPRequestParser()
    var output: [UInt8] = []
    var ending = Ending.none
    /// An answer is being held back.
    var isWaiting = false
    /// No answer will ever come.
    var isMute = false
    /// It gets events until it ends.
    var isStreaming = false
    /// The version of the state that it got last.
    var streamedVersion = -1
    /// Only the end of the input is waited for.
    var isDraining = false
    var hasInputEnded = false
    var isClosed = false
    var isQueuedForFlush = false
    /// The epoll events that are asked for.
    var interest: UInt32 = 0
    var lastActivityMilliseconds: Int64
    private var sentBytes = 0

    init(_ descriptor: FileDescriptor, nowMilliseconds: Int64) {
        self.descriptor = descriptor
        lastActivityMilliseconds = nowMilliseconds
    }

    var hasOutput: Bool { sentBytes < output.count }

    /// Whether the next request may be taken up.
    var takesRequests: Bool {
        ending == .none && !isWaiting && !isMute && !isStreaming && !isClosed
            && output.count - sentBytes < Self.outputLimitBytes
    }

    /// Whether silence on it means that it is of no use any more.
    var canBeIdle: Bool { !isWaiting && !isMute && !isStreaming }

    var wantsInput: Bool {
        guard !hasInputEnded else { return false }
        if isDraining || isMute || isStreaming { return true }
        return parser.bufferedBytes < Self.inputLimitBytes && output.count - sentBytes < Self.outputLimitBytes
    }

    /// Sends what the socket takes. False where the connection is broken.
    func sendOutput() -> Bool {
        while hasOutput {
            // Sound: the kernel reads the buffer during the call only, and no more than its count.
            let count = output.withUnsafeBytes { buffer in
                Retry.onInterrupt {
                    send(
                        descriptor.number, buffer.baseAddress.map { $0 + sentBytes }, output.count - sentBytes,
                        Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                }
            }
            guard count >= 0 else { return errno == EAGAIN }
            sentBytes += count
        }
        output.removeAll(keepingCapacity: output.capacity <= 65_536)
        sentBytes = 0
        return true
    }

    /// Makes closing the descriptor reset the connection.
    func prepareReset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        // Where this fails the connection is closed in the ordinary way, which the peer sees as a cut-off answer too.
        _ = setsockopt(
            descriptor.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
