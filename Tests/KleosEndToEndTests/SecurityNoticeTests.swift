import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// What a game may bring about with a notice.
@Suite("Security: notices")
struct SecurityNoticeTests {
    private let scenario: Scenario
    private let started: Fifo

    init() throws {
        scenario = try Scenario()
        let folder = scenario.daemon.folder
        started = try Fifo(folder.path("started"))
        try scenario.daemon.write(
            "start.sh", "#!/bin/sh\nprintf '%s|%s|%s\\n' \"$(id -u)\" \"$KLEOS_PLAYER\" \"$*\" >'\(started.path)'\n")
        try #require(chmod(folder.path("start.sh"), 0o755) == 0)
        try scenario.daemon.write(
            "games.d/minesweeper.conf.d/start.conf", "[Game]\nStart=\(folder.path("start.sh")) --plain\n")
        try scenario.daemon.start()
    }

    private func earn(_ player: String) throws {
        try scenario.kleos("submit", "achievement", "minesweeper", "first-win", "--player", player)
        try scenario.drain()
    }

    @Test("S-77: what was submitted reaches the program that a notice starts as it was, and through no shell")
    func namesAreNotRun() throws {
        let mark = scenario.daemon.folder.path("run")
        let player = "$(touch '\(mark)');`touch '\(mark)'`\"&|%s"
        try earn(player)
        try scenario.kleos("open", "1")
        #expect(try started.nextLine() == "\(getuid())|\(player)|--plain")
        #expect(access(mark, F_OK) != 0)
    }

    @Test(
        "S-77: nobody starts a game with another user's notice",
        .enabled(if: OrdinaryUser.isRoot, OrdinaryUser.whySkipped))
    func onlyTheOwners() throws {
        let daemon = scenario.daemon
        try #require(chmod(daemon.folder.path, 0o755) == 0)
        try earn("mira")
        let refused = try OrdinaryUser.ada.start(
            BuiltPrograms.path("kleos"), ["open", "1", "--socket", daemon.socketPath],
            errorFile: daemon.folder.path("ada.err")
        ).finish()
        #expect(!refused.isSuccess)
        // The first start that there is is the owner's.
        try scenario.kleos("open", "1")
        #expect(try started.nextLine() == "\(getuid())|mira|--plain")
    }
}
