import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// A certificate that the program openssl made for a test.
final class TestCertificate: Sendable {
    private static let openssl = "/usr/bin/openssl"

    /// Whether this machine can make certificates and serve with them.
    static var isAvailable: Bool { access(openssl, X_OK) == 0 && TLSLibrary.shared != nil }
    /// What a test that needs them says where they cannot be had.
    static let need: Comment = "needs the program openssl and libssl.so.3"

    private let folder: TemporaryFolder
    /// The certificate with those that it rests on.
    var chainFile: String { folder.path("chain.pem") }
    var keyFile: String { folder.path("server.key") }
    /// What makes the certificate good where it is trusted: itself, or who issued it.
    var authorityFile: String { folder.path("authority.pem") }

    /// Times are as in `20200101000000Z`, `name` as in `IP:127.0.0.1`; who issued it is an authority of its own, or
    /// else the certificate is self-signed. `sendsAuthority` makes a server send that authority's certificate, too.
    init(
        from start: String = "20200101000000Z", to end: String = "20900101000000Z", name: String = "IP:127.0.0.1",
        hasAuthority: Bool = false, sendsAuthority: Bool = false
    ) throws {
        folder = try TemporaryFolder()
        let script = """
            set -e; cd "$1"; : > index; echo 01 > serial
            printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\n' > c
            printf 'policy=p\\nx509_extensions=x\\n[p]\\ncommonName=supplied\\n[x]\\nbasicConstraints=CA:%s\\n' "$7" >> c
            printf 'subjectAltName=%s\\n' "$4" >> c
            o=$5
            "$o" req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out csr -subj /CN=server
            if [ "$6" = yes ]; then
                "$o" req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out authority.pem \\
                    -subj /CN=authority -days 3650
                "$o" ca -batch -cert authority.pem -keyfile ca.key -config c -in csr -out server.pem -notext \\
                    -startdate "$2" -enddate "$3"
            else
                "$o" ca -batch -selfsign -config c -keyfile server.key -in csr -out server.pem -notext \\
                    -startdate "$2" -enddate "$3"
                cp server.pem authority.pem
            fi
            cp server.pem chain.pem
            if [ "$8" = yes ]; then cat authority.pem >> chain.pem; fi
            """
        let maker = try ChildProcess(
            "/bin/sh",
            [
                "-c", script, "make", folder.path, start, end, name, Self.openssl, hasAuthority ? "yes" : "no",
                hasAuthority ? "FALSE" : "TRUE", sendsAuthority ? "yes" : "no",
            ], errorFile: folder.path("errors"))
        let made = try maker.finish()
        try #require(made.isSuccess, "\(made.errors)")
    }
}
