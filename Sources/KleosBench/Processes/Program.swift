import CLinux
import Glibc
import KleosSupport

/// A program that the run started, in a process group of its own.
final class Program {
    /// Its process id, and that of its group.
    let id: Int32
    private let name: String
    private let output: String
    private let handle: FileDescriptor
    private var ending: ProcessEnding?

    /// Starts `command` with standard output and error going to the file `output`. Throws `SystemError`.
    init(_ command: [String], environment: [String: String] = [:], output: String) throws(SystemError) {
        name = command.first ?? ""
        self.output = output
        let input = try FileDescriptor.open("/dev/null", O_RDONLY)
        let file = try FileDescriptor.open(output, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        id = try ProgramStart.start(
            command, environment: Environment.adding(environment),
            files: (input.number, file.number, file.number), hasOwnGroup: true)
        RunningPrograms.shared.add(id)
        let number = kleos_pidfd_open(id)
        guard number >= 0 else {
            let error = SystemError("watch the process of \(name)")
            kill(-id, SIGKILL)
            throw error
        }
        handle = FileDescriptor(owning: number)
    }

    deinit { stop(SIGKILL) }

    /// Whether it ends within `milliseconds`.
    func ends(withinMilliseconds milliseconds: Int32) -> Bool {
        if ending != nil { return true }
        var entry = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return Retry.onInterrupt { poll(&entry, 1, milliseconds) } > 0
    }

    /// Waits for its end. Throws `BenchFailure` where it takes longer than `milliseconds`, and then kills it, or where
    /// it does not end with code 0, with what it said.
    func finish(withinMilliseconds milliseconds: Int32 = 60_000) throws(BenchFailure) {
        guard ends(withinMilliseconds: milliseconds) else {
            stop(SIGKILL)
            throw BenchFailure("\(name) did not end within \(milliseconds / 1_000) s; it said: \(said)")
        }
        let ending = reap()
        guard ending == .exited(0) else { throw BenchFailure("\(name) failed (\(ending)); it said: \(said)") }
    }

    /// Asks it to end with `signal`, and kills it where it has not ended after ten seconds.
    func stop(_ signal: Int32 = SIGTERM) {
        guard ending == nil else { return }
        kill(id, signal)
        if !ends(withinMilliseconds: 10_000) { kill(-id, SIGKILL) }
        reap()
    }

    /// The end of what it wrote.
    var said: String {
        let text = (try? SmallFile.readText(at: output, limitBytes: 64 << 20)) ?? ""
        return text.isEmpty ? "nothing" : String(text.suffix(500))
    }

    @discardableResult
    private func reap() -> ProcessEnding {
        if let ending { return ending }
        var status: Int32 = 0
        _ = Retry.onInterrupt { waitpid(id, &status, 0) }
        RunningPrograms.shared.remove(id)
        let ending = ProcessEnding(waitStatus: status)
        self.ending = ending
        return ending
    }
}
