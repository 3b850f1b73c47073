import Glibc
import KleosSupport

/// The id of the machine, by which a copied database is told from the original.
enum MachineIdentity {
    /// What `source` says, hashed so that the id itself stays private; empty where there is none. `source` is
    /// `machine-id` for /etc/machine-id (machine-id(5)), `none`, or the path of a file.
    ///
    /// A file that does not exist is ordinary, in containers and on machines without systemd.
    static func read(_ source: String, log: Log) -> String {
        if source == "none" { return "" }
        let path = source == "machine-id" ? "/etc/machine-id" : source
        do throws(SystemError) {
            let id = try SmallFile.readText(at: path, limitBytes: 256).filter { !$0.isWhitespace }
            return id.isEmpty || id == "uninitialized" ? "" : fingerprint(of: id)
        } catch {
            if error.code != ENOENT || source != "machine-id" {
                log(.warning, "cannot tell a clone of this machine: \(error)")
            }
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
