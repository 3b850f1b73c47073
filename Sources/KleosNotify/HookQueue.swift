import Dispatch
import Glibc
import KleosSupport
import Synchronization

/// Runs a command hook on a thread of its own, once for each notice, with a few repetitions.
final class HookQueue: Sendable {
    let hook: CommandHook
    private let log: Log
    private let queue = DispatchQueue(label: "kleos.notices.hook")
    private let cancellation: (read: FileDescriptor, write: FileDescriptor)?
    private let state = Mutex(State())

    private struct State {
        var isBusy = false
        /// Whether there was something to do while it was busy.
        var hasMore = false
    }

    /// The route's name.
    static let route = "command"

    /// Waits between attempts for one notice.
    static let retryMilliseconds: [Int64] = [2_000, 10_000]

    /// A claim lapses after a minute; an attempt that would outlast it is not begun.
    private static let claimMilliseconds: Int64 = 55_000

    init(hook: CommandHook, log: Log) {
        self.hook = hook
        self.log = log
        // Without a pair there is no early end at a stop, which then waits for the command's own time-out.
        cancellation = (try? UnixSocket.pair()).map { ($0.0, $0.1) }
    }

    /// Marks the hook as busy; false where it is already, which `end` then tells.
    func begin() -> Bool {
        state.withLock { state in
            if state.isBusy { state.hasMore = true }
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    /// Marks the hook as free, and returns whether `begin` was tried meanwhile.
    func end() -> Bool {
        state.withLock { state in
            defer { state = State() }
            return state.hasMore
        }
    }

    /// Runs the command with `input` until it accepts or all attempts are used; `completion` says whether it did.
    func run(_ input: [UInt8], number: Int64, completion: @escaping @Sendable (Bool) -> Void) {
        queue.async { [self] in completion(attempt(input, number: number)) }
    }

    /// Ends a running command, and calls `completion` once it is gone.
    func stop(then completion: @escaping @Sendable () -> Void) {
        if let write = cancellation?.write {
            // A byte stays readable for the command at work and for any that were to follow.
            _ = try? write.writeAll([0])
        }
        queue.async { completion() }
    }

    private func attempt(_ input: [UInt8], number: Int64) -> Bool {
        let start = SystemClock().read().monotonicMilliseconds
        for delay in Self.retryMilliseconds + [0] {
            switch once(input, number: number) {
            case .exited(0): return true
            case .cancelled: return false
            default: break
            }
            let elapsed = SystemClock().read().monotonicMilliseconds - start
            guard delay > 0, elapsed + delay + hook.timeoutMilliseconds < Self.claimMilliseconds else { break }
            if isCancelled(withinMilliseconds: delay) { return false }
        }
        log(
            .warning, "the notice command did not accept a notice; it is left to other routes",
            ["command": hook.command[0], "notice": String(number)])
        return false
    }

    private func once(_ input: [UInt8], number: Int64) -> CommandHook.Ending {
        do throws(SystemError) {
            let report = try hook.run(input: input, cancellation: cancellation?.read)
            log(
                report.isSuccess ? .info : .warning, "the notice command \(report.summary)",
                ["command": hook.command[0], "notice": String(number), "output": report.output])
            return report.ending
        } catch {
            log(.warning, "the notice command does not start: \(error)", ["notice": String(number)])
            return .exited(127)
        }
    }

    private func isCancelled(withinMilliseconds milliseconds: Int64) -> Bool {
        // Without a descriptor poll is a plain wait: it skips negative numbers.
        var entry = pollfd(fd: cancellation?.read.number ?? -1, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, Int32(clamping: milliseconds)) > 0
    }
}
