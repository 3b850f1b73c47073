import Dispatch
import Glibc
import KleosClient
import KleosJSON
import KleosSupport
import Synchronization

/// The automatic play: games, what they earn, and what of it is handed to kleos.
struct AutoRun {
    private let options: MinesweeperOptions
    private let client: KleosClient
    private let ledger: SubmissionLedger
    private let clock = SystemClock()
    private var random: SeededGenerator
    private var career = Career()
    private var earned: Set<AchievementID> = []
    private var best: [Level: Int64] = [:]
    private var played: [Level: (games: Int, wins: Int)] = [:]

    /// The game's id in its file.
    static let gameID = "minesweeper"

    /// Why nothing was played.
    struct NoDaemon: Error {
        let message: String
    }

    init(options: MinesweeperOptions) {
        self.options = options
        client = KleosClient(
            game: Self.gameID, player: options.player ?? Environment["USER"] ?? "player",
            socketPath: options.socketPath)
        ledger = SubmissionLedger(window: 64, printer: options.printsJSON ? Self.printLine : nil)
        random = options.seed.map(SeededGenerator.init(seed:)) ?? .unpredictable()
    }

    private static let printLine: @Sendable (String) -> Void = { line in
        StandardStream.output.write(line + "\n")
    }

    /// Plays to the goal and waits for the last acknowledgement. Throws `NoDaemon`.
    mutating func run() throws(NoDaemon) -> SubmissionLedger.Tally {
        try learnStanding()
        var last: MinesweeperGame?
        var number = 0
        while !isDone(games: number) {
            let level = options.level ?? Level.allCases[number % Level.allCases.count]
            let style = AutoPlayer.Style.allCases[number / 3 % AutoPlayer.Style.allCases.count]
            let game = MinesweeperGame(level, random: SeededGenerator(seed: random.next()))
            let clock = clock
            let finished = AutoPlayer(style: style).play(game) { clock.monotonicNanoseconds }
            report(finished.facts, number: number + 1)
            last = finished
            number += 1
        }
        while !client.waitUntilIdle(timeoutMilliseconds: 60_000) {
            say("Waiting for kleos to acknowledge the last submissions …")
        }
        if options.showsBoard, let board = last?.board {
            say(BoardPicture.draw(board, hasColor: isatty(STDOUT_FILENO) == 1 && Environment["NO_COLOR"] == nil))
        }
        summarize()
        return ledger.current
    }

    private func isDone(games: Int) -> Bool {
        switch options.goal {
        case .games(let count): games >= count
        case .events(let count): ledger.current.submitted >= count
        case nil: true
        }
    }

    /// Asks what the player has already, whether confirmed or on its way.
    private mutating func learnStanding() throws(NoDaemon) {
        let answered = DispatchSemaphore(value: 0)
        let holder = AnswerHolder()
        client.standing { result in
            holder.set(result)
            answered.signal()
        }
        guard answered.wait(timeout: .now() + .seconds(options.waitSeconds)) == .success else {
            throw NoDaemon(
                message: "no kleos daemon answers; start one (kleosd --user), or name its socket with --socket")
        }
        switch holder.value {
        case .success(let standings): learn(standings)
        case .failure(let error): throw NoDaemon(message: "kleos does not know how far the player is: \(error)")
        case nil: throw NoDaemon(message: "kleos gave no answer")
        }
    }

    private mutating func learn(_ standings: [KleosStanding]) {
        for standing in standings {
            for mark in [standing.confirmed, standing.pending].compactMap({ $0 }) {
                if let id = standing.achievement.flatMap(AchievementID.init) { learn(id, mark) }
                if let level = standing.leaderboard.flatMap(Level.init), let time = mark.value.flatMap({ Int64($0) }) {
                    best[level] = min(time, best[level] ?? time)
                }
            }
        }
    }

    private mutating func learn(_ id: AchievementID, _ mark: KleosStanding.Mark) {
        if mark.progress == 100 { earned.insert(id) }
        guard let steps = mark.steps, let total = AchievementRules.counted[id] else { return }
        if steps >= total { earned.insert(id) }
        if [.hundredGames, .thousandGames].contains(id) {
            career.games = max(career.games, steps)
        } else {
            career.wins = max(career.wins, steps)
        }
    }

    // MARK: - What a game earns

    private mutating func report(_ facts: MinesweeperGame.Facts, number: Int) {
        career.add(facts)
        let count = played[facts.level] ?? (0, 0)
        played[facts.level] = (count.games + 1, count.wins + (facts.isWon ? 1 : 0))
        var news: [String] = []
        if facts.isWon {
            submit(facts.milliseconds, on: facts.level)
            if facts.milliseconds < best[facts.level] ?? Int64.max {
                best[facts.level] = facts.milliseconds
                news.append("best time")
            }
        }
        for id in AchievementRules.earned(facts, career: career).subtracting(earned).sorted(by: {
            $0.rawValue < $1.rawValue
        }) {
            earned.insert(id)
            news.append(id.rawValue)
            submit(id, .unlocked)
        }
        for (id, steps) in AchievementRules.progress(of: career).sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !earned.contains(id) {
            if steps == AchievementRules.counted[id] {
                earned.insert(id)
                news.append(id.rawValue)
            }
            submit(id, .steps(steps))
        }
        let ending = facts.isWon ? "won in \(Self.seconds(facts.milliseconds))" : "lost, \(facts.remainingSafe) to go"
        let line = "game \(number): \(facts.level.rawValue) \(ending), guesses: \(facts.guesses)"
        if !options.isQuiet { say(news.isEmpty ? line : "\(line) — \(news.joined(separator: ", "))") }
    }

    private func submit(_ milliseconds: Int64, on level: Level) {
        var row = JSONObject()
        row["kind"] = "score"
        row["leaderboard"] = .string(level.rawValue)
        row["value"] = .string(String(milliseconds))
        client.submitScore(milliseconds, leaderboard: level.rawValue, completion: ledger.begin(row))
    }

    private func submit(_ id: AchievementID, _ progress: AchievementProgress) {
        var row = JSONObject()
        row["kind"] = "achievement"
        row["achievement"] = .string(id.rawValue)
        if case .steps(let count) = progress { row["steps"] = .integer(count) } else { row["progress"] = 100 }
        client.submitAchievement(id.rawValue, progress: progress, completion: ledger.begin(row))
    }

    // MARK: - Words

    private func say(_ text: String) {
        if !options.printsJSON { Self.printLine(text) }
    }

    private func summarize() {
        for level in Level.allCases {
            guard let count = played[level] else { continue }
            let time = best[level].map { ", best time \(Self.seconds($0))" } ?? ""
            say("\(level.rawValue): \(count.games) played, \(count.wins) won\(time)")
        }
        let tally = ledger.current
        say("\(tally.acknowledged) of \(tally.submitted) submissions are safe with kleos")
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
    }
}

/// Carries an answer from the client's queue to the game's thread.
private final class AnswerHolder: Sendable {
    private let answer = Mutex<Result<[KleosStanding], KleosError>?>(nil)

    var value: Result<[KleosStanding], KleosError>? { answer.withLock { $0 } }

    func set(_ value: Result<[KleosStanding], KleosError>) { answer.withLock { $0 = value } }
}
