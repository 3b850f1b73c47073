import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// A full disk under the spool and the queue, with the real programs: nothing is lost in silence.
@Suite("Spool: a full disk", .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
struct SpoolDiskTests {
    private let disk: SmallDisk
    private let scenario: Scenario
    private var spool: String { "\(disk.path)/spool" }

    init() throws {
        disk = try SmallDisk(kibibytes: 8_192)
        scenario = try Scenario()
        try scenario.daemon.write("kleosd.conf", "[Storage]\nKeepFree=2M\nReserve=0\n")
        try start()
    }

    private func start() throws {
        try scenario.daemon.start(["--state", disk.path])
    }

    private func submit(_ value: Int) throws -> ChildProcess.Result {
        let folder = scenario.daemon.folder
        unlink(folder.path("submit.err"))
        return try ChildProcess(
            BuiltPrograms.path("kleos"),
            ["submit", "score", "minesweeper", "beginner", String(value), "--player", "ada", "--timeout", "1"],
            environment: ["KLEOS_SOCKET": scenario.daemon.socketPath, "KLEOS_SPOOL": spool],
            errorFile: folder.path("submit.err")
        ).finish()
    }

    private func files() throws -> [String] {
        try Folder.names(in: spool).filter { $0 != "taking" && $0 != "rejected" }
    }

    @Test("kleos submit says that the event is lost, and why, and leaves nothing half; with room it spools again")
    func client() throws {
        scenario.daemon.stop()
        try disk.fill()
        let refused = try submit(5_000)
        #expect(refused.ending == .exited(69))
        #expect(refused.errors.contains("nor can the event be spooled: cannot write \(spool)/."), "\(refused.errors)")
        #expect(refused.errors.contains("No space left on device"))
        #expect(refused.output.isEmpty)
        #expect(try files() == [])
        disk.empty()
        let spooled = try submit(4_000)
        #expect(spooled.isSuccess && spooled.output.hasPrefix("spooled "), "\(spooled.errors)")
        try start()
        #expect(try Patience.until { try scenario.counts()["effects"]?.int64Value == 1 })
        #expect(try files() == [])
    }

    @Test("While the queue has no room, what is spooled waits, with the reason in the status, and is taken in later")
    func daemon() throws {
        try scenario.kleos("pause", "home")
        try disk.fill(leavingKibibytes: 1_024)
        scenario.daemon.suspend()
        #expect(try submit(4_000).output.hasPrefix("spooled "))
        scenario.daemon.send(SIGCONT)
        var last: SpoolStatus?
        #expect(
            try Patience.until {
                let text = try scenario.kleos("status", "--json")
                last = StatusAnswer(json: try JSONParser.parse(Array(text.utf8))).spool
                return last?.waiting == 1 && last?.waitingReason != nil
            }, "\(String(describing: last))")
        #expect(last?.waitingReason?.contains("KeepFree=") == true, "\(String(describing: last))")
        #expect(last?.rejected == 0 && last?.takenIn == 0)
        #expect(try scenario.kleos("status").contains("1 file"))
        disk.empty()
        try scenario.kleos("resume", "home")
        #expect(try Patience.until { try scenario.counts()["effects"]?.int64Value == 1 })
        #expect(try files() == [] && Folder.names(in: "\(spool)/taking") == [])
    }

    @Test("A bad file on a full disk is moved aside and told of, and the good ones go on")
    func bad() throws {
        scenario.daemon.stop()
        try SmallFile.replace("\(spool)/1-bad.json", with: Array("bad".utf8), mode: 0o640)
        try disk.fill()
        try start()
        let isTold = try Patience.until { try scenario.kleos("status").contains("1-bad.json") }
        #expect(isTold)
        #expect(try scenario.daemon.log.contains("cannot be written beside it"))
        #expect(try files() == [])
    }
}
