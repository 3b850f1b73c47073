import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// openssl(1) as a server whose certificate expired in 2021.
final class ExpiredServer {
    private static let openssl = "/usr/bin/openssl"
    /// Whether this machine has the program.
    static var isAvailable: Bool { access(openssl, X_OK) == 0 }

    private let folder: TemporaryFolder
    private let process: ChildProcess
    /// Where it listens.
    let url: String
    /// What makes the certificate trusted, but for its age.
    var authorityFile: String { folder.path("server.pem") }

    init() throws {
        folder = try TemporaryFolder()
        let script = """
            set -e; cd "$1"; : > index; echo 01 > serial
            printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\n' > c
            printf 'policy=p\\nx509_extensions=x\\n[p]\\ncommonName=supplied\\n[x]\\nbasicConstraints=CA:TRUE\\n' >> c
            printf 'subjectAltName=IP:127.0.0.1\\n' >> c
            "$2" req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key -out csr -subj /CN=server 2>/dev/null
            "$2" ca -batch -selfsign -config c -keyfile key -in csr -out server.pem -notext \\
                -startdate 20200101000000Z -enddate 20210101000000Z 2>/dev/null
            exec "$2" s_server -accept 127.0.0.1:0 -cert server.pem -key key -www
            """
        process = try ChildProcess(
            "/bin/sh", ["-c", script, "serve", folder.path, Self.openssl], errorFile: folder.path("errors"))
        var place: String?
        while place == nil, let line = try process.nextLine() {
            if line.hasPrefix("ACCEPT ") { place = line.split(separator: " ").last.map(String.init) }
        }
        url = "https://\(try #require(place, "openssl did not listen"))"
    }

    deinit {
        process.send(SIGTERM)
        process.wait()
    }
}
