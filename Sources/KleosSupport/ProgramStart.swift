import CLinux
import Glibc

/// Starts programs without a shell (posix_spawn(3)).
package enum ProgramStart {
    /// Starts `command`, a path or a name on PATH and arguments, with exactly the variables in `environment`. `files`
    /// are descriptors that become its standard ones; nothing else is open in it. No signal is blocked or ignored in
    /// it, and with `hasOwnGroup` it leads a process group. It runs in `folder`, by default in this process's. Throws
    /// `SystemError`.
    package static func start(
        _ command: [String], environment: [String: String], files: (input: Int32, output: Int32, errors: Int32),
        hasOwnGroup: Bool, folder: String? = nil
    ) throws(SystemError) -> Int32 {
        precondition(!command.isEmpty, "a command has a program")
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // A parent may ignore signals, and the threads of Dispatch block them: a program would start so.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group
        var codes = [
            posix_spawn_file_actions_adddup2(&actions, files.input, STDIN_FILENO),
            posix_spawn_file_actions_adddup2(&actions, files.output, STDOUT_FILENO),
            posix_spawn_file_actions_adddup2(&actions, files.errors, STDERR_FILENO),
            kleos_spawn_close_from(&actions, 3),
            posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawnattr_setsigdefault(&attributes, &all),
            posix_spawnattr_setpgroup(&attributes, 0),
            posix_spawnattr_setflags(&attributes, Int16(flags)),
        ]
        if let folder { codes.append(kleos_spawn_in_folder(&actions, folder)) }
        // A program that would see this process's descriptors or signals is not started.
        if let code = codes.first(where: { $0 != 0 }) { throw SystemError("prepare \(command[0])", code: code) }
        var child: pid_t = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }.sorted()
        let code = withTexts(command) { arguments in
            withTexts(variables) { posix_spawnp(&child, command[0], &actions, &attributes, arguments, $0) }
        }
        guard code == 0 else { throw SystemError("start \(command[0])", code: code) }
        return child
    }

    private static func withTexts(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        let pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        // Sound: posix_spawn has copied the texts when it returns, and the list ends with nil.
        return pointers.withUnsafeBufferPointer { buffer in buffer.baseAddress.map(body) ?? ENOMEM }
    }
}
