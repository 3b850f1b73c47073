import Glibc
import KleosSupport

/// Where programs lie.
enum ProgramPath {
    /// A program of kleos, which lies beside this one.
    static func own(_ name: String) -> String { "\(Folder.ofThisProgram ?? ".")/\(name)" }

    /// A program of the system: on PATH, in the folders of administrators or in `extra`; nil where it is not installed.
    static func installed(_ name: String, extra: [String] = []) -> String? {
        let path = (Environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (path + ["/usr/sbin", "/sbin"] + extra).map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
