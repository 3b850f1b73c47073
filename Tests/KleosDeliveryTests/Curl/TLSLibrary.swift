import Glibc
import KleosSupport

/// The TLS library that libcurl uses as well, found at run time, for servers of the tests.
struct TLSLibrary: @unchecked Sendable {
    // Unchecked, because pointers to functions that never change are not Sendable by themselves.
    typealias Handle = OpaquePointer
    typealias ChooseProtocol =
        @convention(c) (
            Handle?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?,
            UInt32, UnsafeMutableRawPointer?
        ) -> Int32

    let serverMethod: @convention(c) () -> Handle?
    let newContext: @convention(c) (Handle?) -> Handle?
    let freeContext: @convention(c) (Handle?) -> Void
    let useCertificate: @convention(c) (Handle?, UnsafePointer<CChar>) -> Int32
    let useKey: @convention(c) (Handle?, UnsafePointer<CChar>, Int32) -> Int32
    let setChooser: @convention(c) (Handle?, ChooseProtocol?, UnsafeMutableRawPointer?) -> Void
    let newConnection: @convention(c) (Handle?) -> Handle?
    let freeConnection: @convention(c) (Handle?) -> Void
    let setDescriptor: @convention(c) (Handle?, Int32) -> Int32
    let accept: @convention(c) (Handle?) -> Int32
    let read: @convention(c) (Handle?, UnsafeMutableRawPointer?, Int32) -> Int32
    let write: @convention(c) (Handle?, UnsafeRawPointer?, Int32) -> Int32
    let shutdown: @convention(c) (Handle?) -> Int32

    /// The library; nil where this machine has none.
    static let shared: TLSLibrary? = {
        // Its writes have no flag against the signal.
        signal(SIGPIPE, SIG_IGN)
        guard let library = dlopen("libssl.so.3", RTLD_NOW) else { return nil }
        return try? TLSLibrary(
            serverMethod: symbol("TLS_server_method", in: library), newContext: symbol("SSL_CTX_new", in: library),
            freeContext: symbol("SSL_CTX_free", in: library),
            useCertificate: symbol("SSL_CTX_use_certificate_chain_file", in: library),
            useKey: symbol("SSL_CTX_use_PrivateKey_file", in: library),
            setChooser: symbol("SSL_CTX_set_alpn_select_cb", in: library),
            newConnection: symbol("SSL_new", in: library), freeConnection: symbol("SSL_free", in: library),
            setDescriptor: symbol("SSL_set_fd", in: library), accept: symbol("SSL_accept", in: library),
            read: symbol("SSL_read", in: library), write: symbol("SSL_write", in: library),
            shutdown: symbol("SSL_shutdown", in: library))
    }()

    private struct MissingFunction: Error { var name: String }

    private static func symbol<T>(_ name: String, in library: UnsafeMutableRawPointer) throws -> T {
        guard let address = dlsym(library, name) else { throw MissingFunction(name: name) }
        return unsafeBitCast(address, to: T.self)
    }
}
