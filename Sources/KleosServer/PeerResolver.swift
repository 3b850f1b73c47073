package import KleosSupport

/// How the server learns who is at the other end of a connection.
package struct PeerResolver: Sendable {
    /// Asks for the identity behind a connection.
    package var identify: @Sendable (FileDescriptor) throws(SystemError) -> PeerIdentity

    /// Makes a resolver.
    package init(identify: @escaping @Sendable (FileDescriptor) throws(SystemError) -> PeerIdentity) {
        self.identify = identify
    }

    /// Asks the kernel.
    package static let kernel = PeerResolver { descriptor throws(SystemError) in try UnixSocket.peer(of: descriptor) }
}
