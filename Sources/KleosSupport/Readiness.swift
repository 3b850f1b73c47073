import CLinux

/// What a socket is ready for, or is to be told of.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes, a connection, the end or an error can be read.
    package static let read = Readiness(rawValue: 1)
    /// Bytes can be written, or an error is there.
    package static let write = Readiness(rawValue: 2)

    /// What is told of when the kernel reports `events` of epoll(7): whoever reads or writes learns of a hang-up and of
    /// an error.
    init(epoll events: UInt32) {
        var ready: Readiness = []
        if events & EPOLLIN.rawValue != 0 { ready.insert(.read) }
        if events & EPOLLOUT.rawValue != 0 { ready.insert(.write) }
        if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { ready = [.read, .write] }
        self = ready
    }
}
