import Glibc
import KleosSupport
import KleosTestSupport
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
        let path = try #require(ProcessDetails.read(pid: getpid(), uid: getuid()).executable)
        #expect(path.hasPrefix("/"))
        #expect(ProcessDetails.read(pid: 0, uid: 0) == ProcessDetails())
    }

    /// A folder that looks like the tree of control groups.
    private func groups(_ files: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in files {
            let path = folder.path("\(name)/cgroup.procs")
            try Folder.make(String(path.dropLast("/cgroup.procs".count)))
            try SmallFile.replace(path, with: Array(text.utf8))
        }
        return folder
    }

    @Test("where /proc hides a process, the control groups tell its unit")
    func hiddenProcess() throws {
        let tree = try groups([
            "": "1\n", "system.slice/game.service": "77\n78\n", "system.slice/cpu.service/inner": "80\n",
            "user.slice/user-1000.slice/user@1000.service/app.slice/app-a.scope": "779\n",
            "user.slice/user-1000.slice/session-2.scope": "79\n",
        ])
        func unit(_ pid: Int32, uid: UInt32) -> String? {
            ProcessDetails.read(pid: pid, uid: uid, root: tree.path("none"), groups: tree.path).unit
        }
        #expect(unit(78, uid: 5) == "game.service")
        #expect(unit(79, uid: 1_000) == "session-2.scope")
        #expect(unit(779, uid: 0) == "app-a.scope")
        #expect(unit(80, uid: 0) == "cpu.service")
        #expect(unit(1, uid: 0) == nil)
        #expect(unit(7, uid: 1_000) == nil)
    }

    @Test("the process behind a connection is known while it lives, and not taken for another when it has ended")
    func endedProcess() throws {
        let folder = try TemporaryFolder()
        let listener = try UnixSocket.listen(at: folder.path("s"), mode: 0o600)
        let own = try UnixSocket.connect(to: folder.path("s"))
        let first = try #require(try UnixSocket.accept(on: listener))
        #expect(ProcessDetails.read(of: try UnixSocket.peer(of: first), through: first).executable != nil)
        withExtendedLifetime(own) {}

        let connect = "socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ARGV[0])) or die"
        let child = try ChildProcess(
            "/usr/bin/perl", ["-MSocket", "-e", connect, folder.path("s")], errorFile: folder.path("errors"))
        #expect(try child.finish().isSuccess)
        let second = try #require(try UnixSocket.accept(on: listener))
        var peer = try UnixSocket.peer(of: second)
        #expect(peer.pid == child.processID)
        // As if its number were this process's by now.
        peer.pid = getpid()
        guard case .gone = UnixSocket.peerProcess(of: second) else {
            if case .known(let process) = UnixSocket.peerProcess(of: second) {
                #expect(UnixSocket.hasEnded(process: process))
                #expect(ProcessDetails.read(of: peer, through: second) == ProcessDetails())
            }
            return
        }
        #expect(ProcessDetails.read(of: peer, through: second) == ProcessDetails())
    }
}
