import Glibc
import KleosSupport

/// The private daemon of a practice run.
struct PracticeDaemon {
    let processID: pid_t
    private let logPath: String

    /// Starts the daemon of `folder`; `wait` waits for its readiness. Throws a failure.
    init(_ folder: PracticeFolder, _ signals: PracticeSignals) throws(CommandFailure) {
        logPath = "\(folder.path)/kleosd.log"
        guard let program = Self.program() else {
            throw CommandFailure(
                .unavailable, "there is no kleosd beside kleos, nor on PATH", hint: "install kleos whole")
        }
        do throws(SystemError) {
            let ready = try ReadinessSocket(path: "\(folder.path)/ready.sock")
            let log = try FileDescriptor.open(logPath, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC)
            let input = try FileDescriptor.open("/dev/null", O_RDONLY | O_CLOEXEC)
            // In a group of its own it outlives an interrupt from the terminal, and can drain.
            processID = try ProgramStart.start(
                [program, "--private", folder.path, "--exit-with-parent"],
                environment: Environment.adding(["NOTIFY_SOCKET": ready.path, "NO_COLOR": "1"]),
                files: (input.number, log.number, log.number), hasOwnGroup: true)
            while try !ready.isReady(timeoutMilliseconds: 100) {
                signals.wait(milliseconds: 0)
                if signals.stopSignal != nil || signals.ending(of: processID) != nil { break }
            }
        } catch {
            throw CommandFailure(.system, error.description)
        }
        if signals.ending(of: processID) != nil { throw ended() }
    }

    /// The failure that its end is, with what it said last.
    func ended() -> CommandFailure {
        let log = (try? SmallFile.readText(at: logPath, limitBytes: 64 << 20)) ?? ""
        let last = log.split(separator: "\n").suffix(12).joined(separator: "\n")
        return CommandFailure(.unavailable, "the daemon ended by itself; it said:\n\(last)")
    }

    /// The installed daemon, which belongs to this program: beside it, or in the folder for daemons beside that.
    private static func program() -> String? {
        var folders: [String] = []
        if let own = realpath("/proc/self/exe", nil) {
            let path = String(cString: own)
            free(own)
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
            folders += [folder, "\(folder)/../sbin", "\(folder)/../libexec/kleos"]
        }
        folders += (Environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return folders.map { "\($0)/kleosd" }.first { access($0, X_OK) == 0 }
    }
}

/// Where a daemon tells that it is ready, as it would tell a service manager (sd_notify(3)).
private final class ReadinessSocket {
    let path: String
    private let descriptor: FileDescriptor

    init(path: String) throws(SystemError) {
        self.path = path
        descriptor = try UnixSocket.bindDatagrams(at: path)
    }

    /// Waits at most so long for the word. Throws `SystemError`.
    func isReady(timeoutMilliseconds: Int32) throws(SystemError) -> Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, timeoutMilliseconds) > 0 else { return false }
        let message = String(decoding: try descriptor.read(limitBytes: 4_096), as: UTF8.self)
        return message.split(separator: "\n").contains("READY=1")
    }
}
