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

    @Test func theServiceIsExposedAtMost1Point4() throws {
        let unit = "\(ShippedFiles.root)/systemd/kleosd.service"
        let result = try analyze(["security", "--offline=true", "--threshold=14", "--no-pager", unit])
        #expect(result.isSuccess, "\(result.output)")
    }
}
