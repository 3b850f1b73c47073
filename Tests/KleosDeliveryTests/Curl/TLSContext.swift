import Glibc
import KleosSupport
import Testing

/// A certificate with its key, as a TLS server uses it.
final class TLSContext: @unchecked Sendable {
    // Unchecked, because a pointer is not Sendable by itself: OpenSSL counts references to a context with atomics, and
    // nothing changes it after `init`.
    private let context: TLSLibrary.Handle
    private let library: TLSLibrary

    /// `speaksHTTP2` makes the server choose HTTP/2 where the client offers it.
    init(_ certificate: TestCertificate, speaksHTTP2: Bool = false) throws {
        library = try #require(TLSLibrary.shared)
        context = try #require(library.newContext(library.serverMethod()))
        try #require(library.useCertificate(context, certificate.chainFile) == 1)
        try #require(library.useKey(context, certificate.keyFile, 1) == 1)
        if speaksHTTP2 { library.setChooser(context, Self.chooseHTTP2, nil) }
    }

    deinit { library.freeContext(context) }

    /// The client's offer is a list of names, each after its length; the choice points into it.
    private static let chooseHTTP2: TLSLibrary.ChooseProtocol = { _, choice, length, offer, count, _ in
        guard let offer, let choice, let length else { return 2 }
        var index = 0
        while index + 2 < Int(count) {
            if offer[index] == 2, offer[index + 1] == UInt8(ascii: "h"), offer[index + 2] == UInt8(ascii: "2") {
                choice.pointee = offer + index + 1
                length.pointee = 2
                return 0
            }
            index += Int(offer[index]) + 1
        }
        return 2
    }

    /// Shakes hands with the client at `descriptor`; nil where that came to nothing.
    func accept(_ descriptor: FileDescriptor) -> TLSStream? {
        guard let connection = library.newConnection(context) else { return nil }
        let stream = TLSStream(descriptor: descriptor, connection: connection, library: library)
        guard library.setDescriptor(connection, descriptor.number) == 1, library.accept(connection) == 1 else {
            return nil
        }
        return stream
    }
}

/// An encrypted connection; belongs to one thread.
final class TLSStream: ByteStream {
    let descriptor: FileDescriptor
    private let connection: TLSLibrary.Handle
    private let library: TLSLibrary

    init(descriptor: FileDescriptor, connection: TLSLibrary.Handle, library: TLSLibrary) {
        self.descriptor = descriptor
        self.connection = connection
        self.library = library
    }

    deinit { library.freeConnection(connection) }

    func read() -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, count in
            count = Int(max(0, library.read(connection, buffer.baseAddress, 16_384)))
        }
        return bytes.isEmpty ? nil : bytes
    }

    func write(_ bytes: [UInt8]) -> Bool {
        bytes.isEmpty
            || bytes.withUnsafeBytes { library.write(connection, $0.baseAddress, Int32($0.count)) } == bytes.count
    }

    func close() {
        _ = library.shutdown(connection)
        hangUp()
    }
}
