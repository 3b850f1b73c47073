package import KleosSupport

/// Which of the daemon's two sockets.
package enum SocketRole: String, Sendable, CaseIterable {
    /// `kleos.sock`: submits, and reads one's own.
    case submit
    /// `control.sock`: operates the queue.
    case control

    /// Mode of a socket that the daemon binds itself.
    var mode: UInt32 { self == .submit ? 0o666 : 0o660 }
}

/// A listening socket, with what has to be put away at the end.
package struct Listener: Sendable {
    package var role: SocketRole
    package var descriptor: FileDescriptor
    /// The path to unlink at the end; nil where the service manager owns the socket.
    package var ownedPath: String?

    /// Makes a listener of a socket that listens already.
    package init(role: SocketRole, descriptor: FileDescriptor, ownedPath: String? = nil) {
        self.role = role
        self.descriptor = descriptor
        self.ownedPath = ownedPath
    }
}
