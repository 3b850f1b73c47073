import Glibc
import KleosServer
import KleosSupport

/// Runs the program again in the process's place, with the service manager's sockets.
enum StartAnew {
    /// Returns only where it cannot.
    static func run() -> SystemError {
        // Threads of Dispatch have signals blocked, and a program keeps what the thread had that called for it.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        for number in SocketActivation.descriptors() where fcntl(number, F_SETFD, 0) != 0 {
            return SystemError("keep the socket \(number)")
        }
        var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        execv("/proc/self/exe", &arguments)
        return SystemError("run /proc/self/exe")
    }
}
