package import Glibc
package import KleosSupport

/// A program that a test started: its output, its end.
package final class ChildProcess {
    /// What a finished program left.
    package struct Result: Sendable {
        package var ending: ProcessEnding
        package var output: String
        package var errors: String

        /// Whether it ended with code 0.
        package var isSuccess: Bool { ending == .exited(0) }
    }

    /// Its process id.
    package let processID: pid_t
    private let name: String
    private let output: FileDescriptor
    private let errorFile: String
    private var pending: [UInt8] = []
    private var ending: ProcessEnding?

    /// Starts `executable`. Standard output comes through a pipe, standard error goes to `errorFile` (appended).
    /// `environment` adds to this process's variables; an empty value removes one. Throws `SystemError`.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], errorFile: String,
        input: String? = nil
    ) throws(SystemError) {
        name = executable.split(separator: "/").last.map(String.init) ?? executable
        self.errorFile = errorFile
        let (reader, writer) = try UnixSocket.pair()
        output = reader
        let inputFile = try FileDescriptor.open(input ?? "/dev/null", O_RDONLY)
        let errors = try FileDescriptor.open(errorFile, O_WRONLY | O_CREAT | O_APPEND)
        processID = try ProgramStart.start(
            [executable] + arguments, environment: Environment.adding(environment),
            files: (inputFile.number, writer.number, errors.number), hasOwnGroup: false)
    }

    /// Waits for the next line of standard output; nil at its end. Throws `SystemError`, ETIMEDOUT after
    /// `timeoutMilliseconds`.
    package func nextLine(timeoutMilliseconds: Int32 = Patience.limitMilliseconds) throws(SystemError) -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeFirst(end + 1)
                return line
            }
            guard try readSome(timeoutMilliseconds: timeoutMilliseconds) else { return nil }
        }
    }

    private func readSome(timeoutMilliseconds: Int32) throws(SystemError) -> Bool {
        var entry = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
        guard Retry.onInterrupt({ poll(&entry, 1, timeoutMilliseconds) }) > 0 else {
            throw SystemError("wait for output of \(name)", code: ETIMEDOUT)
        }
        let bytes = try output.read(limitBytes: 65_536)
        pending += bytes
        return !bytes.isEmpty
    }

    /// Sends a signal; nothing happens to a process that has been waited for.
    package func send(_ signal: Int32) {
        if ending == nil { kill(processID, signal) }
    }

    /// Stops the program as SIGSTOP does, and waits until nothing of it runs; SIGCONT lets it go on.
    package func suspend() {
        send(SIGSTOP)
        guard ending == nil else { return }
        var status: Int32 = 0
        guard Retry.onInterrupt({ waitpid(processID, &status, WUNTRACED) }) == processID else { return }
        // The low byte of a stopped program's status is 0x7F; one that ended meanwhile has been waited for.
        if status & 0xFF != 0x7F { ending = ProcessEnding(waitStatus: status) }
    }

    /// Reads all output, waits for the end, and returns both. Throws `SystemError` after `timeoutMilliseconds` without
    /// output; then the program is killed.
    package func finish(timeoutMilliseconds: Int32 = Patience.limitMilliseconds) throws(SystemError) -> Result {
        do throws(SystemError) {
            while try readSome(timeoutMilliseconds: timeoutMilliseconds) {}
        } catch {
            send(SIGKILL)
            _ = wait()
            throw error
        }
        let ending = wait()
        let errors = try SmallFile.readText(at: errorFile, limitBytes: 64 << 20)
        return Result(ending: ending, output: String(decoding: pending, as: UTF8.self), errors: errors)
    }

    /// Waits for the end, however long it takes.
    @discardableResult
    package func wait() -> ProcessEnding {
        if let ending { return ending }
        var status: Int32 = 0
        let result = Retry.onInterrupt { waitpid(processID, &status, 0) }
        precondition(result == processID, "waitpid lost a child")
        let ending = ProcessEnding(waitStatus: status)
        self.ending = ending
        return ending
    }

    deinit {
        guard ending == nil else { return }
        kill(processID, SIGKILL)
        wait()
    }
}
