import Glibc
import KleosSupport

/// The service manager's notification protocol (sd_notify(3)): one datagram of `KEY=value` lines to the socket that
/// NOTIFY_SOCKET names. Without that variable every call does nothing.
struct ServiceManager: Sendable {
    private let address: String?
    /// How often the service manager wants to hear from the daemon; nil for never. Milliseconds.
    let watchdogMilliseconds: Int64?

    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    init(processID: Int32, environment: (String) -> String?) {
        address = environment("NOTIFY_SOCKET")
        let isForUs = environment("WATCHDOG_PID").map { Int32($0) == processID } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) }
        watchdogMilliseconds = isForUs ? microseconds.map { max(1, $0 / 1000) } : nil
    }

    /// What the daemon has to say.
    enum Message: Sendable, Equatable {
        /// It answers from now on.
        case ready
        /// It answers questions only, because its configuration has errors.
        case degraded
        /// A new configuration is being read; when that began, on the monotonic clock.
        case reloading(monotonicMicroseconds: Int64)
        /// It is going down.
        case stopping
        /// Its parts all answered.
        case alive

        fileprivate var text: String {
            switch self {
            case .ready: "READY=1\nSTATUS=Ready"
            case .degraded:
                "READY=1\nSTATUS=The configuration has errors; nothing is taken or sent until they are mended and kleosd "
                    + "is reloaded"
            case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
            case .stopping: "STOPPING=1\nSTATUS=Stopping"
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// Tells the service manager. Throws `SystemError`.
    func tell(_ message: Message) throws(SystemError) {
        try send(message.text)
    }

    private func send(_ message: String) throws(SystemError) {
        guard let address else { return }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        // A leading @ stands for the zero byte of Linux's abstract names.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard !path.isEmpty, path.count < MemoryLayout.size(ofValue: target.sun_path) else {
            throw SystemError("use NOTIFY_SOCKET \(address)", code: ENAMETOOLONG)
        }
        // Sound: shorter than sun_path, as checked above; the rest stays zero.
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: path) }
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket for the service manager") }
        let descriptor = FileDescriptor(owning: number)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(message.utf8)
        // Sound: a sockaddr_un begins as every sockaddr does, and its length goes with it; the call keeps no pointer.
        let sent = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Retry.onInterrupt {
                    sendto(descriptor.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
                }
            }
        }
        guard sent == bytes.count else { throw SystemError("notify the service manager") }
    }
}
