import Glibc
import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

/// A TLS server whose certificate is wrong in one way; needs the program openssl.
private final class CertificateServer {
    static let openssl = "/usr/bin/openssl"
    static var isAvailable: Bool { access(openssl, X_OK) == 0 }

    let folder: TemporaryFolder
    let url: String
    /// The certificate itself, to be trusted as an authority.
    var authority: String { folder.path("server.pem") }
    private let server: ChildProcess

    init(from start: String, to end: String, name: String) throws {
        folder = try TemporaryFolder()
        let script = """
            set -e; cd "$1"; : > index; echo 01 > serial
            printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\n' > c
            printf 'policy=p\\nx509_extensions=x\\n[p]\\ncommonName=supplied\\n[x]\\nbasicConstraints=CA:TRUE\\n' >> c
            printf 'subjectAltName=%s\\n' "$4" >> c
            "$5" req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out csr -subj /CN=t
            "$5" ca -batch -selfsign -config c -keyfile server.key -in csr -out server.pem -notext -startdate "$2" \
                -enddate "$3"
            """
        let maker = try ChildProcess(
            "/bin/sh", ["-c", script, "make", folder.path, start, end, name, Self.openssl],
            errorFile: folder.path("errors"))
        let made = try maker.finish()
        try #require(made.isSuccess, "\(made.errors)")
        server = try ChildProcess(
            Self.openssl,
            [
                "s_server", "-accept", "127.0.0.1:0", "-rev", "-cert", folder.path("server.pem"), "-key",
                folder.path("server.key"),
            ], errorFile: folder.path("errors"))
        var line = try server.nextLine()
        while let text = line, !text.hasPrefix("ACCEPT ") { line = try server.nextLine() }
        url = "https://\(try #require(line?.dropFirst(7)))/"
    }

    deinit {
        server.send(SIGKILL)
        _ = server.wait()
    }
}

@Suite(.enabled(if: CertificateServer.isAvailable), .timeLimit(.minutes(2))) struct CertificateTests {
    private static let valid = (from: "20200101000000Z", to: "20900101000000Z")

    private func failure(_ server: CertificateServer, trusting: Bool) throws -> TransportFailure {
        let request = post(server.url, certificateAuthorityFile: trusting ? server.authority : nil)
        let exchange = Exchange(request, over: sharedTransport)
        #expect(try !exchange.result().didSendRequest, "nothing is sent to a stranger")
        return try exchange.failure()
    }

    @Test func anExpiredCertificateIsNamed() throws {
        let server = try CertificateServer(from: "20200101000000Z", to: "20210101000000Z", name: "IP:127.0.0.1")
        let failure = try failure(server, trusting: true)
        #expect(failure.kind == .tls)
        #expect(failure.message.contains("has expired"))
    }

    @Test func aCertificateOfTheFutureIsNamed() throws {
        let server = try CertificateServer(from: "20900101000000Z", to: "20910101000000Z", name: "IP:127.0.0.1")
        let failure = try failure(server, trusting: true)
        #expect(failure.kind == .tls)
        #expect(failure.message.contains("not valid yet"))
    }

    @Test func aCertificateForAnotherHostIsNamed() throws {
        let server = try CertificateServer(from: Self.valid.from, to: Self.valid.to, name: "DNS:other.example")
        let failure = try failure(server, trusting: true)
        #expect(failure.kind == .tls)
        #expect(failure.message.contains("127.0.0.1"))
    }

    @Test func aSelfSignedCertificateIsRefusedUntilItIsNamed() throws {
        let server = try CertificateServer(from: Self.valid.from, to: Self.valid.to, name: "IP:127.0.0.1")
        let failure = try failure(server, trusting: false)
        #expect(failure.kind == .tls)
        #expect(failure.message.contains("self-signed"))
        let trusted = Exchange(
            post(server.url, certificateAuthorityFile: server.authority), over: sharedTransport)
        // The server speaks TLS and no HTTP: that much shows that its certificate was taken.
        #expect(try trusted.failure().kind == .broken)
        #expect(try trusted.result().didSendRequest)
    }
}
