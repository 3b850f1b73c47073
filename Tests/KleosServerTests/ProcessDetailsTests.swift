import Glibc
import KleosSupport
import Testing

@testable import KleosServer

@Suite struct ProcessDetailsTests {
    @Test(arguments: [
        ("0::/system.slice/kleosd.service\n", "kleosd.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-game.scope\n", "app-game.scope"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.service/inner\n", "a.service"),
        ("12:pids:/x\n1:name=systemd:/system.slice/old.service\n", "old.service"),
    ])
    func namesTheInnermostUnit(groups: String, unit: String) {
        #expect(ProcessDetails.unit(inControlGroups: groups) == unit)
    }

    @Test(arguments: ["", "0::/\n", "garbage", "0::/docker/abc\n"])
    func namesNoUnitWhereThereIsNone(groups: String) {
        #expect(ProcessDetails.unit(inControlGroups: groups) == nil)
    }

    @Test func readsItsOwnExecutable() throws {
        let path = try #require(ProcessDetails.read(pid: getpid()).executable)
        #expect(path.hasPrefix("/"))
        #expect(ProcessDetails.read(pid: 0) == ProcessDetails())
    }
}
