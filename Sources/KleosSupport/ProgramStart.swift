import CLinux
import Glibc

/// Starts programs that go on beside this one.
package enum ProgramStart {
    /// Starts a program with this process's variables and those of `environment`; `files` says which descriptors become
    /// its standard ones, `folder` where it runs, by default here. Throws `SystemError`.
    package static func start(
        _ command: [String], environment: [String: String], files: (input: Int32, output: Int32, errors: Int32),
        hasOwnGroup: Bool, folder: String? = nil
    ) throws(SystemError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        var codes = [
            posix_spawn_file_actions_adddup2(&actions, files.input, STDIN_FILENO),
            posix_spawn_file_actions_adddup2(&actions, files.output, STDOUT_FILENO),
            posix_spawn_file_actions_adddup2(&actions, files.errors, STDERR_FILENO),
            kleos_spawn_close_from(&actions, 3), posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawnattr_setsigdefault(&attributes, &all), posix_spawnattr_setpgroup(&attributes, 0),
        ]
        if let folder { codes.append(kleos_spawn_in_folder(&actions, folder)) }
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        codes.append(
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group)))
        if let code = codes.first(where: { $0 != 0 }) { throw SystemError("prepare \(command[0])", code: code) }
        var child: pid_t = 0
        let code = withTexts(command) { arguments in
            withTexts(variables(adding: environment)) {
                posix_spawnp(&child, command[0], &actions, &attributes, arguments, $0)
            }
        }
        guard code == 0 else { throw SystemError("start \(command[0])", code: code) }
        return child
    }

    private static func variables(adding extra: [String: String]) -> [String] {
        var texts: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let variable = String(cString: text)
            if extra[String(variable.prefix { $0 != "=" })] == nil { texts.append(variable) }
            entry += 1
        }
        return texts + extra.map { "\($0.key)=\($0.value)" }.sorted()
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
