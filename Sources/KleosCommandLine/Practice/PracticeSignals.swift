import CLinux
import Glibc
import KleosSupport

/// Takes signals one after the other in place of being interrupted by them, and looks after child processes.
///
/// Made before any thread is started, so that no other thread takes the signals.
final class PracticeSignals {
    private var set = sigset_t()
    private var endings: [pid_t: ProcessEnding] = [:]
    /// The first signal that asks to stop, once it came.
    private(set) var stopSignal: Int32?

    /// Blocks the signals, and becomes the parent of descendants whose parents end. Throws a failure.
    init() throws(CommandFailure) {
        sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD] { sigaddset(&set, signal) }
        guard pthread_sigmask(SIG_BLOCK, &set, nil) == 0, kleos_adopt_orphans() == 0 else {
            throw CommandFailure(.system, SystemError("block signals").description)
        }
    }

    /// Waits at most so long for a signal, and takes note of it and of children that ended; false where none came.
    @discardableResult
    func wait(milliseconds: Int64) -> Bool {
        var time = timespec(tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000 * 1_000_000))
        let signal = sigtimedwait(&set, nil, &time)
        if [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(signal), stopSignal == nil { stopSignal = signal }
        reap()
        return signal > 0
    }

    private func reap() {
        var status: Int32 = 0
        while true {
            let child = waitpid(-1, &status, WNOHANG)
            guard child > 0 else { return }
            endings[child] = ProcessEnding(waitStatus: status)
        }
    }

    /// How the child ended; nil while it runs.
    func ending(of child: pid_t) -> ProcessEnding? { endings[child] }

    /// Waits until the child ended; nil where it did not within the time.
    func waitForEnd(of child: pid_t, milliseconds: Int64) -> ProcessEnding? {
        let clock = SystemClock()
        let deadline = clock.read().monotonicMilliseconds + milliseconds
        reap()
        while endings[child] == nil {
            let left = deadline - clock.read().monotonicMilliseconds
            guard left > 0 else { return nil }
            wait(milliseconds: min(left, 1_000))
        }
        return endings[child]
    }

    /// Asks the child to end, and makes it end where it has not within the time.
    @discardableResult
    func end(_ child: pid_t, with signal: Int32 = SIGTERM, milliseconds: Int64) -> ProcessEnding? {
        if let ending = endings[child] { return ending }
        kill(child, signal)
        if let ending = waitForEnd(of: child, milliseconds: milliseconds) { return ending }
        kill(child, SIGKILL)
        return waitForEnd(of: child, milliseconds: 60_000)
    }

    /// Ends all descendants but `kept`, those included that their parents left behind.
    func endDescendants(except kept: pid_t?) {
        reap()
        var others = Self.children().filter { $0 != kept }
        for child in others { kill(child, SIGTERM) }
        for child in others { end(child, milliseconds: 2_000) }
        // What those leave behind comes here in turn.
        others = Self.children().filter { $0 != kept }
        while !others.isEmpty {
            for child in others { end(child, with: SIGKILL, milliseconds: 2_000) }
            others = Self.children().filter { $0 != kept && endings[$0] == nil }
        }
    }

    /// The children of this process; none where the kernel does not tell.
    private static func children() -> [pid_t] {
        let threads = (try? Folder.names(in: "/proc/self/task")) ?? []
        return threads.flatMap { thread -> [pid_t] in
            let text = (try? SmallFile.readText(at: "/proc/self/task/\(thread)/children")) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
    }
}

extension ProcessEnding {
    /// What a shell would say: the code, or 128 and the signal's number.
    var code: Int32 {
        switch self {
        case .exited(let code): code
        case .killed(let signal): 128 + signal
        }
    }
}
