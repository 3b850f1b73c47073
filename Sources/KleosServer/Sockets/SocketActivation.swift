import Glibc
import KleosSupport

/// Why handed-over or own sockets cannot be used, and what to do about it.
package struct ListenerError: Error, Equatable, CustomStringConvertible {
    /// A sentence: what is wrong, with what, and what to do.
    package let description: String

    /// Makes an error.
    package init(_ description: String) {
        self.description = description
    }
}

/// Takes over sockets from the service manager (sd_listen_fds(3)).
package enum SocketActivation {
    /// The first descriptor that a service manager hands over.
    package static let firstDescriptor: Int32 = 3

    /// The sockets that were handed over to this process, by their names `submit` and `control`, which several may
    /// share; empty where there are none. Sets close-on-exec and takes ownership, so it is called once. Throws
    /// `ListenerError`.
    package static func listeners(
        environment: (String) -> String? = { Environment[$0] }, processID: Int32 = getpid(),
        firstDescriptor: Int32 = firstDescriptor
    ) throws(ListenerError) -> [Listener] {
        let count = count(environment: environment, processID: processID)
        guard count > 0 else { return [] }
        guard count <= 16 else { throw ListenerError("LISTEN_FDS=\(count) names more sockets than kleosd has") }
        let names = (environment("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard names.count == Int(count) else {
            throw ListenerError(
                "LISTEN_FDNAMES does not name the \(count) sockets; set FileDescriptorName= in the socket units")
        }
        var listeners: [Listener] = []
        for (index, name) in names.enumerated() {
            guard let role = SocketRole(rawValue: String(name)) else {
                throw ListenerError("the socket name \(name) is not known; use submit and control")
            }
            let number = firstDescriptor + Int32(index)
            try check(number, name: String(name))
            listeners.append(Listener(role: role, descriptor: try take(number, name: String(name))))
        }
        return listeners
    }

    /// The numbers of the descriptors that were handed over to this process; the sockets at them are open as long as
    /// `listeners` are kept.
    package static func descriptors() -> Range<Int32> {
        let count = count(environment: { Environment[$0] }, processID: getpid())
        return firstDescriptor..<(firstDescriptor + count)
    }

    private static func count(environment: (String) -> String?, processID: Int32) -> Int32 {
        guard let count = environment("LISTEN_FDS").flatMap({ Int32($0) }), count > 0,
            environment("LISTEN_PID") == String(processID)
        else { return 0 }
        return count
    }

    private static func take(_ number: Int32, name: String) throws(ListenerError) -> FileDescriptor {
        guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw ListenerError(SystemError("take over the socket \(name)").description)
        }
        let descriptor = FileDescriptor(owning: number)
        do throws(SystemError) {
            try descriptor.setNonBlocking()
        } catch {
            throw ListenerError(error.description)
        }
        return descriptor
    }

    private static func check(_ number: Int32, name: String) throws(ListenerError) {
        let isRight =
            option(SO_DOMAIN, of: number) == AF_UNIX && option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue)
            && option(SO_ACCEPTCONN, of: number) == 1
        guard isRight else {
            throw ListenerError("descriptor \(number) (\(name)) is no listening Unix stream socket; use ListenStream=")
        }
    }

    private static func option(_ option: Int32, of number: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(number, SOL_SOCKET, option, &value, &length) == 0 else { return nil }
        return value
    }
}
