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
    private var record = PlayerRecord()
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

    /// Asks what the player has already, whether confirmed or on its way; again where a daemon that came and went did
    /// not answer, for as long as is to be waited.
    private mutating func learnStanding() throws(NoDaemon) {
        let end: DispatchTime = .now() + .seconds(options.waitSeconds)
        while true {
            switch try askStanding(until: end) {
            case .success(let standings): return record.learn(standings)
            case .failure(.timedOut): continue
            case .failure(let error):
                throw NoDaemon(message: "kleos does not know how far the player is: \(error)")
            }
        }
    }

    private func askStanding(until end: DispatchTime) throws(NoDaemon) -> Result<[KleosStanding], KleosError> {
        let answered = DispatchSemaphore(value: 0)
        let holder = AnswerHolder()
        client.standing { result in
            holder.set(result)
            answered.signal()
        }
        guard answered.wait(timeout: end) == .success, let answer = holder.value else {
            throw NoDaemon(
                message: "no kleos daemon answers; start one (kleosd --user), or name its socket with --socket")
        }
        return answer
    }

    // MARK: - What a game earns

    private mutating func report(_ facts: MinesweeperGame.Facts, number: Int) {
        let count = played[facts.level] ?? (0, 0)
        played[facts.level] = (count.games + 1, count.wins + (facts.isWon ? 1 : 0))
        var news: [String] = []
        for award in record.finish(facts) {
            switch award {
            case .time(let level, let milliseconds, let isBest):
                submit(milliseconds, on: level)
                if isBest { news.append("best time") }
            case .unlocked(let id):
                news.append(id.rawValue)
                submit(id, .unlocked)
            case .steps(let id, let steps, let isLast):
                if isLast { news.append(id.rawValue) }
                submit(id, .steps(steps))
            }
        }
        let ending =
            facts.isWon ? "won in \(TimeText.seconds(facts.milliseconds))" : "lost, \(facts.remainingSafe) to go"
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
            let time = record.best[level].map { ", best time \(TimeText.seconds($0))" } ?? ""
            say("\(level.rawValue): \(count.games) played, \(count.wins) won\(time)")
        }
        let tally = ledger.current
        say(SubmissionText.safe(tally.acknowledged, of: tally.submitted))
    }
}

/// Carries an answer from the client's queue to the game's thread.
private final class AnswerHolder: Sendable {
    private let answer = Mutex<Result<[KleosStanding], KleosError>?>(nil)

    var value: Result<[KleosStanding], KleosError>? { answer.withLock { $0 } }

    func set(_ value: Result<[KleosStanding], KleosError>) { answer.withLock { $0 = value } }
}
