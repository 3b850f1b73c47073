import Glibc
import KleosJSON
import KleosMinesweeper
import KleosSupport
import KleosTestSupport
import Testing

/// The sample game as somebody plays it, in a real terminal with a real daemon and a real service.
@Suite("The game in a terminal", .enabled(if: TerminalHarness.isAvailable, "tmux is not installed"))
struct GameInTerminalTests {
    private static let seed: UInt64 = 3
    private let scenario: Scenario

    init() throws {
        scenario = try Scenario()
    }

    private func command(_ arguments: String = "") -> String {
        "\(BuiltPrograms.path("kleos-minesweeper")) --player mira --seed \(Self.seed) "
            + "--socket \(scenario.daemon.socketPath) \(arguments)"
    }

    /// The keys that win the first game of the seed: what a player does who knows where the mines are.
    private static func winningKeys(_ level: Level = .beginner) -> [String] {
        var random = SeededGenerator(seed: seed)
        var game = MinesweeperGame(level, random: SeededGenerator(seed: random.next()))
        var cursor = level.height / 2 * level.width + level.width / 2
        var keys = ["Space"]
        game.play(.uncover(cursor, risk: 0), atNanoseconds: 0)
        for cell in 0..<(level.width * level.height) where game.board?.covers[cell] == .covered {
            var trial = game
            trial.play(.uncover(cell, risk: 0), atNanoseconds: 0)
            guard trial.board?.exploded == nil else { continue }
            game = trial
            let (rows, columns) = (cell / level.width - cursor / level.width, cell % level.width - cursor % level.width)
            keys += Array(repeating: rows < 0 ? "Up" : "j", count: abs(rows))
            keys += Array(repeating: columns < 0 ? "h" : "Right", count: abs(columns)) + ["Enter"]
            cursor = cell
        }
        return keys
    }

    /// A cell with a mine in the first game of the seed, as keys that lead to it from the middle.
    private static func losingKeys() -> [String] {
        let level = Level.beginner
        var random = SeededGenerator(seed: seed)
        var game = MinesweeperGame(level, random: SeededGenerator(seed: random.next()))
        let middle = level.height / 2 * level.width + level.width / 2
        game.play(.uncover(middle, risk: 0), atNanoseconds: 0)
        for cell in middle..<(level.width * level.height) {
            var trial = game
            trial.play(.uncover(cell, risk: 0), atNanoseconds: 0)
            guard trial.board?.exploded != nil else { continue }
            let down = Array(repeating: "Down", count: cell / level.width - middle / level.width)
            let columns = cell % level.width - middle % level.width
            return ["Space"] + down + Array(repeating: columns < 0 ? "Left" : "l", count: abs(columns)) + ["Space"]
        }
        return []
    }

    private static func line(_ text: String, in screen: String) -> String {
        screen.split(separator: "\n").first { $0.contains(text) }.map(String.init) ?? ""
    }

    @Test("A won game shows what it earned as saved and as confirmed")
    func wins() throws {
        try scenario.daemon.start()
        let terminal = try TerminalHarness(command())
        let first = try terminal.wait(for: "q quit")
        #expect(first.split(separator: "\n").first?.contains("Mission: Minesweeper  Beginner") == true)
        #expect(first.contains("│ ■ ■ ■ ■[■]■ ■ ■ ■ │"))
        #expect(first.contains("⚑ 10"))
        #expect(first.split(separator: "\n", omittingEmptySubsequences: false).count == 25)

        try terminal.type(Self.winningKeys())
        let won = try terminal.wait(for: "confirmed") { screen in
            screen.contains("Won in") && !screen.contains("being saved") && screen.contains("confirmed ✓")
                && !screen.contains(" saved\n")
        }
        #expect(Self.line("Won in", in: won).contains(", your best time"))
        #expect(Self.line("★ Beginner ", in: won).hasSuffix("confirmed, rank 1 ✓"))
        #expect(Self.line("★ Minesweeper  Win a game", in: won).hasSuffix("confirmed ✓"))
        let top = won.split(separator: "\n")[0]
        #expect(top.contains("saved with kleos"))

        try terminal.type("a")
        let list = try terminal.wait(for: "Achievements of mira")
        #expect(list.contains("★ Minesweeper  Win a game"))
        #expect(list.contains("Ten Clean Fields  1 of 10"))
        #expect(list.contains("???"))
        try terminal.type("Escape", "r")
        let again = try terminal.wait(for: "⚑ 10    0 s")
        #expect(Self.line("0 s", in: again).contains("best "))

        // Whoever follows a notice finds the achievements.
        let number = try #require(
            try scenario.rows("notices").first { $0["achievement"] == "first-win" }?["number"]?.int64Value)
        #expect(try scenario.kleos("open", String(number)).hasPrefix("Mission: Minesweeper was in the foreground"))
        try terminal.wait(for: "Achievements of mira")
        #expect(try scenario.rows("list", "--kind", "score").map { $0["state"] } == ["delivered"])
        // The game says that it has shown them in its own time.
        #expect(try Patience.until { try scenario.kleos("notices", "--pending") == "0 notices\n" })
    }

    @Test("A lost game shows the mines")
    func loses() throws {
        try scenario.daemon.start()
        let terminal = try TerminalHarness(command())
        try terminal.wait(for: "q quit")
        try terminal.type(Self.losingKeys())
        let lost = try terminal.wait(for: "Lost, with")
        #expect(lost.contains("[✶]"))
        #expect(lost.count { $0 == "●" } == 9)
        try terminal.wait(for: "★ First Steps") { Self.line("★ First Steps", in: $0).hasSuffix("confirmed ✓") }
    }

    @Test("The game goes on while no daemon runs, and what it earned is confirmed when one does")
    func withoutDaemon() throws {
        let terminal = try TerminalHarness(command())
        try terminal.wait(for: "q quit")
        try terminal.type(Self.winningKeys())
        let won = try terminal.wait(for: "Won in")
        #expect(!won.contains("confirmed"))
        try terminal.type("r", "2")
        try terminal.wait(for: "⚑ 40")
        try scenario.daemon.start()
        try terminal.wait(for: "confirmed") { screen in
            let items = screen.split(separator: "\n").filter { $0.hasPrefix(" ★ ") }
            return !items.isEmpty && items.allSatisfy { $0.contains("confirmed") }
        }
    }

    @Test(
        "The terminal is as it was: at the end, and at every signal that ends the game",
        arguments: [
            nil, SIGINT, SIGTERM, SIGHUP,
        ])
    func restores(signal: Int32?) throws {
        let terminal = try TerminalHarness(
            "echo before; \(command()); echo ended $?; stty -a | tr -s ' ' '\\n' | grep -x -e '-*echo' -e '-*icanon' "
                + "-e '-*isig'; exec tail -f /dev/null"
        )
        try terminal.wait(for: "q quit")
        if let signal {
            kill(try game(), signal)
        } else {
            try terminal.type("q")
        }
        let screen = try terminal.wait(for: "ended") { $0.contains("ended ") && $0.contains("echo\n") }
        let lines = screen.split(separator: "\n").map(String.init)
        #expect(lines.starts(with: ["before", "Mission: Minesweeper: 0 games played, 0 won"]))
        #expect(lines.contains("ended \(signal.map { 128 + $0 } ?? 0)"))
        for flag in ["echo", "icanon", "isig"] { #expect(lines.contains(flag), "\(screen)") }
    }

    @Test("The terminal is given back while the game is stopped", arguments: [true, false])
    func suspends(byKey: Bool) throws {
        let terminal = try TerminalHarness("exec sh -i")
        try terminal.wait(for: "the prompt") { $0.contains("#") || $0.contains("$") }
        try terminal.type(command(), "Enter")
        try terminal.wait(for: "q quit")
        try terminal.type("Right")
        try terminal.wait(for: "│ ■ ■ ■ ■ ■[■]■ ■ ■ │")
        if byKey { try terminal.type("C-z") } else { kill(try game(), SIGTSTP) }
        try terminal.wait(for: "Stopped")
        try terminal.type("stty -a | tr -s ' ' '\\n' | grep -x -e -*icanon", "Enter")
        let stopped = try terminal.wait(for: "\nicanon")
        #expect(!stopped.contains("q quit"))
        try terminal.type("fg", "Enter")
        try terminal.wait(for: "│ ■ ■ ■ ■ ■[■]■ ■ ■ │")
        try terminal.type("q")
        try terminal.wait(for: "0 games played")
    }

    @Test("The game follows the size of its window")
    func resizes() throws {
        let terminal = try TerminalHarness(command("--level advanced"))
        let whole = try terminal.wait(for: "q quit")
        #expect(whole.contains("⚑ 99"))
        #expect(whole.count { $0 == "■" } == 480)
        try terminal.resize(columns: 50, rows: 20)
        try terminal.wait(for: "Advanced needs 63 columns and 22 rows; here are 5")
        try terminal.type("1")
        try terminal.wait(for: "⚑ 10")
        try terminal.resize(columns: 120, rows: 40)
        try terminal.type("3")
        let large = try terminal.wait(for: "q quit") { $0.contains("⚑ 99") && $0.contains("q quit") }
        #expect(large.split(separator: "\n", omittingEmptySubsequences: false).count == 41)
    }

    @Test("Colours are left out with NO_COLOR, signs beyond ASCII where the locale has none", arguments: [true, false])
    func plain(isPlain: Bool) throws {
        let variables = isPlain ? ["NO_COLOR": "1", "LC_ALL": "C"] : [:]
        let prefix = isPlain ? "LC_ALL=C NO_COLOR=1 " : ""
        let terminal = try TerminalHarness(prefix + command(), environment: variables)
        try terminal.wait(for: "q quit")
        try terminal.type("Space", "Right", "f")
        let screen = try terminal.wait(for: isPlain ? "[F]" : "[⚑]")
        #expect(screen.utf8.allSatisfy { $0 < 0x80 } == isPlain)
        let colors = Self.colors(in: try terminal.screen(isStyled: true))
        #expect(colors.isEmpty == isPlain)
    }

    /// The codes of colours, those that set one back aside.
    private static func colors(in screen: String) -> [Int] {
        var colors: [Int] = []
        for part in screen.split(separator: "\u{1B}[").dropFirst() {
            let codes = part.prefix { $0 != "m" }.split(separator: ";").compactMap { Int($0) }
            colors += codes.filter { (30...107).contains($0) && $0 != 39 && $0 != 49 }
        }
        return colors
    }

    /// The process of the game that this test started, by its socket.
    private func game() throws -> pid_t {
        for name in try Folder.names(in: "/proc") {
            guard let number = pid_t(name) else { continue }
            // A process may end while it is looked at.
            let line = (try? SmallFile.readText(at: "/proc/\(name)/cmdline")) ?? ""
            let words = line.split(separator: "\0")
            if words.first?.hasSuffix("/kleos-minesweeper") == true,
                words.contains(Substring(scenario.daemon.socketPath))
            {
                return number
            }
        }
        throw SystemError("find the game", code: ESRCH)
    }
}
