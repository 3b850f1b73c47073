import CLinux
import Glibc

/// A child process that is waited for without blocking.
package final class CommandProcess: Sendable {
    /// The child's process id; the child leads a process group of the same number.
    package let pid: Int32
    /// Becomes readable when the child ends (pidfd).
    private let handle: FileDescriptor

    /// How a child ended.
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts `command` (a path and arguments) without a shell, in a process group of its own, with `input` as its
    /// standard input and `output` as its standard output and error, nothing else open, and only the variables in
    /// `environment`.
    ///
    /// Throws `SystemError`.
    package init(
        command: [String], environment: [String: String], input: FileDescriptor, output: FileDescriptor
    ) throws(SystemError) {
        precondition(!command.isEmpty, "a command has a program")
        pid = try Self.spawn(command, environment, input: input, output: output)
        let number = kleos_pidfd_open(pid)
        guard number >= 0 else {
            let error = SystemError("watch the process of \(command[0])")
            kill(-pid, SIGKILL)
            Self.reap(pid)
            throw error
        }
        handle = FileDescriptor(owning: number)
    }

    /// Waits until the child ended, one of the descriptors is ready or the time is up; returns whether it ended.
    package func wait(reading: [FileDescriptor], writing: [FileDescriptor], milliseconds: Int64) -> Bool {
        var entries = [pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)]
        entries += reading.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        entries += writing.map { pollfd(fd: $0.number, events: Int16(POLLOUT), revents: 0) }
        let count = poll(&entries, nfds_t(entries.count), Int32(clamping: max(0, milliseconds)))
        return count > 0 && entries[0].revents != 0
    }

    /// How the child ended, after `wait` said that it did; called once.
    package func reap() -> Ending {
        Self.reap(pid)
    }

    /// Kills the child and its process group, and reaps it.
    package func stop() {
        kill(-pid, SIGKILL)
        Self.reap(pid)
    }

    @discardableResult
    private static func reap(_ pid: pid_t) -> Ending {
        var status: Int32 = 0
        _ = Retry.onInterrupt { waitpid(pid, &status, 0) }
        // WIFEXITED and its like are macros that Swift does not see.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }

    private static func spawn(
        _ command: [String], _ environment: [String: String], input: FileDescriptor, output: FileDescriptor
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var codes = [
            posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO),
            posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO),
            posix_spawn_file_actions_adddup2(&actions, output.number, STDERR_FILENO),
            kleos_spawn_close_from(&actions, 3),
        ]
        var signals = sigset_t()
        sigemptyset(&signals)
        codes.append(posix_spawnattr_setsigmask(&attributes, &signals))
        sigaddset(&signals, SIGPIPE)
        codes.append(posix_spawnattr_setsigdefault(&attributes, &signals))
        codes.append(posix_spawnattr_setpgroup(&attributes, 0))
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        codes.append(posix_spawnattr_setflags(&attributes, Int16(flags)))
        // A command that would see the daemon's descriptors or signals is not started.
        if let code = codes.first(where: { $0 != 0 }) {
            throw SystemError("prepare the command \(command[0])", code: code)
        }
        var child: pid_t = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }.sorted()
        let code = withTexts(command) { arguments in
            withTexts(variables) { posix_spawn(&child, command[0], &actions, &attributes, arguments, $0) }
        }
        guard code == 0 else { throw SystemError("start the command \(command[0])", code: code) }
        return child
    }

    private static func withTexts(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        // Sound: posix_spawn has copied the texts when it returns, and the list ends with nil.
        return pointers.withUnsafeBufferPointer { buffer in buffer.baseAddress.map(body) ?? ENOMEM }
    }
}
