import Glibc
import KleosSupport

/// The id of the machine, by which a copied database is told from the original.
enum MachineIdentity {
    /// What /etc/machine-id says (machine-id(5)), hashed so that the id itself stays private; empty where there is
    /// none.
    ///
    /// A file that does not exist is ordinary, in containers and on machines without systemd.
    static func read(log: Log) -> String {
        let path = "/etc/machine-id"
        do throws(SystemError) {
            let id = try SmallFile.readText(at: path, limitBytes: 256).filter { !$0.isWhitespace }
            return id.isEmpty || id == "uninitialized" ? "" : fingerprint(of: id)
        } catch {
            if error.code != ENOENT { log(.warning, "cannot tell a clone of this machine: \(error)") }
            return ""
        }
    }

    /// FNV-1a of 64 bits, twice with different starts: enough to tell machines apart, and not to be turned back by a
    /// reader who does not know the id.
    private static func fingerprint(of text: String) -> String {
        let halves = [UInt64(0xCBF2_9CE4_8422_2325), 0x6C62_272E_07BB_0142].map { start in
            ("kleos " + text).utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
        return halves.map { String($0, radix: 16) }.joined(separator: "-")
    }
}
