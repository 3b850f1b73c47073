import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// The shipped units, as the service manager's own tools judge them.
@Suite(.enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "needs systemd-analyze"))
struct ServiceUnitTests {
    private func analyze(_ arguments: [String]) throws -> ChildProcess.Result {
        let folder = try TemporaryFolder()
        let child = try ChildProcess("/usr/bin/systemd-analyze", arguments, errorFile: "\(folder.path)/errors")
        return try child.finish()
    }

    /// Units with the exposure that each may have at most, in tenths. A user's own service manager may neither bound
    /// capabilities nor make most of the namespaces, so that its units cannot come near the system's.
    private static let limits = [("kleosd.service", 14), ("user/kleosd.service", 66), ("user/kleos-agent.service", 60)]

    @Test("units are exposed at most as much as they may", arguments: limits)
    func exposure(_ name: String, _ tenths: Int) throws {
        let result = try analyze([
            "security", "--offline=true", "--threshold=\(tenths)", "--no-pager",
            "\(ShippedFiles.root)/systemd/\(name)",
        ])
        #expect(result.isSuccess, "\(result.output)")
    }

    @Test("no unit hides users or the boot id from the daemon", arguments: limits.map(\.0))
    func clientsStayVisible(_ name: String) throws {
        let text = try SmallFile.readText(at: "\(ShippedFiles.root)/systemd/\(name)", limitBytes: 65_536)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(!lines.contains { $0.hasPrefix("PrivateUsers=") && $0 != "PrivateUsers=no" })
        #expect(!lines.contains("ProcSubset=pid"))
    }
}
