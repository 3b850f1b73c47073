import Glibc
import KleosModel
import KleosSupport

/// Reads secrets from files and from the service manager's credentials. Errors never repeat what was read.
struct SecretReader {
    /// The most bytes of a secret.
    static let limitBytes = 8_192

    let daemonUID: UInt32
    let credentialsDirectory: String?
    /// Whether secrets are read at all.
    let isEnabled: Bool

    /// The secret that `file` holds, which must be closed to everybody but the daemon's user; nil where none is read.
    func read(file: String) throws(ValueError) -> (secret: Secret, path: String)? {
        guard isEnabled else { return nil }
        let content = try contents(file)
        guard content.owner == daemonUID || content.owner == 0 else {
            throw ValueError(
                message: "\(file) belongs to user \(content.owner), not to the daemon's user \(daemonUID); "
                    + "run \"chown \(daemonUID) \(file)\"")
        }
        guard content.mode & 0o077 == 0 else {
            throw ValueError(
                message: "\(file) has mode \(octal(content.mode)), so that others may read it; "
                    + "run \"chmod 600 \(file)\"")
        }
        return (try secret(in: content.bytes, of: file), file)
    }

    /// The credential called `name`; nil where none is read.
    func read(credential name: String) throws(ValueError) -> (secret: Secret, path: String)? {
        guard isEnabled else { return nil }
        guard !name.contains("/"), name != ".", name != ".." else {
            throw ValueError(message: "a credential's name has no \"/\"; for a path use TokenFile=")
        }
        guard let credentialsDirectory else {
            throw ValueError(
                message: "the service manager passes no credentials; add \"LoadCredential=\(name):/path\" to "
                    + "kleosd.service and restart it, or use TokenFile=")
        }
        let path = "\(credentialsDirectory)/\(name)"
        return (try secret(in: try contents(path).bytes, of: path), path)
    }

    private func contents(_ path: String) throws(ValueError) -> (bytes: [UInt8], owner: uid_t, mode: mode_t) {
        do throws(SystemError) {
            return try RegularFile.read(path, limitBytes: Self.limitBytes)
        } catch {
            let hint = error.code == EACCES ? "; run \"chown \(daemonUID) \(path)\" and \"chmod 600 \(path)\"" : ""
            throw ValueError(message: "\(error)\(hint)")
        }
    }

    private func secret(in bytes: [UInt8], of path: String) throws(ValueError) -> Secret {
        let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard text.count == 1, let line = text.first?.trimmed, !line.isEmpty,
            line.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw ValueError(message: "\(path) must hold one line of visible ASCII characters without spaces")
        }
        return Secret(String(line))
    }

    private func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
