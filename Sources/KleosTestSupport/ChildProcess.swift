package import Glibc
package import KleosSupport

/// A program that a test started: its output, its end.
package final class ChildProcess {
    /// How a program ended.
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// What a finished program left.
    package struct Result: Sendable {
        package var ending: Ending
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
    private var ending: Ending?

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
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input ?? "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, writer.number, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errorFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A test runner may ignore signals; a program must not inherit that.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // The threads of Dispatch block signals, and a program would start with them blocked.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var child: pid_t = 0
        let code = CStrings.with([executable] + arguments, Self.variables(adding: environment)) { words, variables in
            posix_spawn(&child, executable, &actions, &attributes, words, variables)
        }
        guard code == 0 else { throw SystemError("start \(executable)", code: code) }
        processID = child
    }

    private static func variables(adding extra: [String: String]) -> [String] {
        var names: [String: String] = [:]
        var pointer = environ
        while let entry = pointer.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { names[String(parts[0])] = String(parts[1]) }
            pointer += 1
        }
        names.merge(extra) { _, new in new }
        return names.filter { !$0.value.isEmpty }.map { "\($0.key)=\($0.value)" }
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
    package func wait() -> Ending {
        if let ending { return ending }
        var status: Int32 = 0
        let result = Retry.onInterrupt { waitpid(processID, &status, 0) }
        precondition(result == processID, "waitpid lost a child")
        let signal = status & 0x7F
        let ending: Ending = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
        self.ending = ending
        return ending
    }

    deinit {
        guard ending == nil else { return }
        kill(processID, SIGKILL)
        wait()
    }
}

/// Null-terminated arrays of C strings.
private enum CStrings {
    typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    static func with<T>(_ first: [String], _ second: [String], _ body: (Words, Words) -> T) -> T {
        var one = first.map { strdup($0) } + [nil]
        var two = second.map { strdup($0) } + [nil]
        defer {
            for word in one { free(word) }
            for word in two { free(word) }
        }
        // Sound: both lists end with nil, and posix_spawn has copied the texts when it returns.
        return one.withUnsafeMutableBufferPointer { oneBuffer in
            two.withUnsafeMutableBufferPointer { twoBuffer in
                guard let oneBase = oneBuffer.baseAddress, let twoBase = twoBuffer.baseAddress else {
                    preconditionFailure("an array with a terminator has a base address")
                }
                return body(oneBase, twoBase)
            }
        }
    }
}
