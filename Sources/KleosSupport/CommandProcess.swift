import CLinux
import Glibc

/// A child process that is waited for without blocking.
package final class CommandProcess: Sendable {
    /// The child's process id; the child leads a process group of the same number.
    package let pid: Int32
    /// Becomes readable when the child ends (pidfd).
    private let handle: FileDescriptor

    /// Starts `command` (a path and arguments) without a shell, in a process group of its own, with `input` as its
    /// standard input and `output` as its standard output and error, nothing else open, and only the variables in
    /// `environment`.
    ///
    /// Throws `SystemError`.
    package init(
        command: [String], environment: [String: String], input: FileDescriptor, output: FileDescriptor
    ) throws(SystemError) {
        pid = try ProgramStart.start(
            command, environment: environment, files: (input.number, output.number, output.number), hasOwnGroup: true)
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
    package func reap() -> ProcessEnding {
        Self.reap(pid)
    }

    /// Kills the child and its process group, and reaps it.
    package func stop() {
        kill(-pid, SIGKILL)
        Self.reap(pid)
    }

    @discardableResult
    private static func reap(_ pid: pid_t) -> ProcessEnding {
        var status: Int32 = 0
        _ = Retry.onInterrupt { waitpid(pid, &status, 0) }
        return ProcessEnding(waitStatus: status)
    }
}
