import KleosConfig
import Testing

@testable import KleosDaemon

@Suite struct DaemonOptionsTests {
    @Test(arguments: [["--private", "d", "--spool=s"], ["--private=d", "--spool", "s"]])
    func aValueStandsBehindItsOptionOrInIt(arguments: [String]) throws {
        let options = try DaemonOptions(arguments: arguments)
        #expect(options.kind == .privateFolder)
        #expect(options.privateFolder == "d")
        #expect(options.spoolFolder == "s")
    }

    @Test(arguments: [
        ["--private"], ["--private="], ["--exit-with-parent=no"], ["--user=ada"], ["--version=1"], ["--frobnicate"],
        ["x"],
    ])
    func whatCannotBeFollowedIsRefused(arguments: [String]) {
        let error = #expect(throws: DaemonOptions.UsageError.self) { try DaemonOptions(arguments: arguments) }
        let name = arguments[0].prefix { $0 != "=" }
        #expect(error?.message.contains(name) == true)
    }
}
