import Dispatch
import Glibc
import KleosClient
import KleosSupport
import Synchronization

/// What comes to the game from other threads: signals, and what kleos says. Wakes the game's loop.
final class PlayInbox: Sendable {
    /// What came.
    enum Message: Sendable {
        case report(Play.Report)
        case standings([KleosStanding])
        /// The player followed a notice to this game.
        case open
        case signal(Int32)
    }

    /// Readable when something came.
    let wakeup: FileDescriptor
    private let bell: FileDescriptor
    private let messages = Mutex<[Message]>([])

    /// Blocks the signals that the game cares for, and takes them one after the other. To be made before any other
    /// thread. Throws `SystemError`.
    init() throws(SystemError) {
        (wakeup, bell) = try UnixSocket.pair()
        try wakeup.setNonBlocking()
        try bell.setNonBlocking()
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH] { sigaddset(&set, signal) }
        guard pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else { throw SystemError("block signals") }
        let signals = set
        DispatchQueue(label: "kleos.minesweeper.signals").async { [weak self] in
            var signals = signals
            var number: Int32 = 0
            while sigwait(&signals, &number) == 0 {
                guard let self else { return }
                self.put(.signal(number))
            }
        }
    }

    func put(_ message: Message) {
        messages.withLock { $0.append(message) }
        // Where it is full, the loop is being woken already.
        var byte: UInt8 = 0
        _ = write(bell.number, &byte, 1)
    }

    /// Takes all that came.
    func take() -> [Message] {
        var bytes: [UInt8] = []
        repeat { bytes = (try? wakeup.read(limitBytes: 4_096)) ?? [] } while !bytes.isEmpty
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
