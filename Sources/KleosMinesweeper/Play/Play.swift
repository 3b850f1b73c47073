package import KleosSupport

/// The game as somebody plays it: the field, the cursor, the record and the news. Pure: keys, reports and time go in,
/// effects come out.
package struct Play: Sendable {
    /// What is to be done outside.
    package enum Effect: Sendable, Equatable {
        /// Hand over a time; reports about it name the number.
        case submitTime(Level, milliseconds: Int64, number: Int)
        /// Hand over an achievement: whole, or so many steps.
        case submitAchievement(AchievementID, steps: Int64?, number: Int)
        /// The window is in front of the player, or not.
        case presence(Bool)
        case redraw
        case suspend
        case quit
    }

    /// What kleos said.
    package enum Report: Sendable, Equatable {
        /// An award is on disk, under a key; without one it is in the spool of a daemon that did not answer.
        case saved(number: Int, key: String?)
        case refused(number: Int, message: String)
        /// The service has the event of this key.
        case confirmed(key: String, item: String, rank: Int64?, title: String, detail: String)
    }

    /// What is on the screen.
    package enum View: Sendable, Equatable {
        case field
        case achievements
    }

    package private(set) var game: MinesweeperGame
    /// The cell that keys act on.
    package private(set) var cursor: Int
    package private(set) var view = View.field
    package private(set) var news: [News] = []
    /// Awards handed over, whether they were news or not.
    package private(set) var handedOver = 0
    /// Those of them that kleos has on disk.
    package private(set) var saved = 0
    /// What the player had before, and has earned since.
    package var record = PlayerRecord()
    /// Whether the last won game was the best on its level.
    package private(set) var isBest = false
    /// Games finished in this session, and those won.
    package private(set) var played = (games: 0, wins: 0)
    private var random: SeededGenerator
    private var keys: [String: Int] = [:]
    /// Confirmations of keys that no award has had until now.
    private var early: [(key: String, item: String, rank: Int64?, title: String, detail: String)] = []
    /// Awards in the spool, whose keys are not known before they are confirmed.
    private var spooled: Set<Int> = []
    private var refused = 0
    private var startNanoseconds: Int64?

    /// Begins with a game on `level`; `random` makes the seeds of all games.
    package init(_ level: Level, random: SeededGenerator) {
        var random = random
        game = MinesweeperGame(level, random: SeededGenerator(seed: random.next()))
        self.random = random
        cursor = Self.middle(of: level)
    }

    private static func middle(of level: Level) -> Int {
        level.height / 2 * level.width + level.width / 2
    }

    /// The game's time so far, in milliseconds.
    package func milliseconds(atNanoseconds now: Int64) -> Int64 {
        guard let startNanoseconds else { return 0 }
        return game.isOver ? game.facts.milliseconds : max(0, (now - startNanoseconds) / 1_000_000)
    }

    /// Whether time is running.
    package var isRunning: Bool { startNanoseconds != nil && !game.isOver }

    /// Mines less flags.
    package var minesLeft: Int {
        game.level.mines - (game.board?.covers.count { $0 == .flagged } ?? 0)
    }

    // MARK: - Keys

    /// Takes a key.
    package mutating func press(_ key: Key, atNanoseconds now: Int64) -> [Effect] {
        switch key {
        case .interrupt: return [.quit]
        case .suspend: return [.suspend]
        case .refresh: return [.redraw]
        case .focus(let isForeground): return [.presence(isForeground)]
        default: break
        }
        if key == .character("q") { return [.quit] }
        guard view == .field else {
            view = .field
            return []
        }
        switch key {
        case .character("a"): view = .achievements
        case .character("r"), .character("n"): begin(game.level)
        case .character("1"): begin(.beginner)
        case .character("2"): begin(.intermediate)
        case .character("3"): begin(.advanced)
        case .character("f"), .character("m"): return play(.flag(cursor), now)
        case .character("c"): return play(.chord(cursor), now)
        case .open: return open(now)
        default: move(key)
        }
        return []
    }

    /// The player followed a notice here.
    package mutating func followNotice() {
        view = .achievements
    }

    private mutating func begin(_ level: Level) {
        if level != game.level { cursor = Self.middle(of: level) }
        game = MinesweeperGame(level, random: SeededGenerator(seed: random.next()))
        startNanoseconds = nil
        isBest = false
    }

    private mutating func move(_ key: Key) {
        let (width, height) = (game.level.width, game.level.height)
        var (row, column) = (cursor / width, cursor % width)
        switch key {
        case .up: row = max(0, row - 1)
        case .down: row = min(height - 1, row + 1)
        case .left: column = max(0, column - 1)
        case .right: column = min(width - 1, column + 1)
        case .home: column = 0
        case .end: column = width - 1
        default: break
        }
        cursor = row * width + column
    }

    /// Opens a covered cell, and around a number that has all its flags.
    private mutating func open(_ now: Int64) -> [Effect] {
        guard let board = game.board, !board.isOver else {
            if game.isOver { return [] }
            return play(.uncover(cursor, risk: 0), now)
        }
        switch board.covers[cursor] {
        case .uncovered: return play(.chord(cursor), now)
        case .flagged: return []
        case .covered: return play(.uncover(cursor, risk: Solver.risk(of: cursor, in: board)), now)
        }
    }

    private mutating func play(_ move: MinesweeperGame.Move, _ now: Int64) -> [Effect] {
        guard !game.isOver else { return [] }
        game.play(move, atNanoseconds: now)
        if game.board != nil, startNanoseconds == nil { startNanoseconds = now }
        guard game.isOver else { return [] }
        played.games += 1
        played.wins += game.facts.isWon ? 1 : 0
        let awards = record.finish(game.facts)
        // The time last, so that it stands lowest among the news and is seen where there is little room.
        let times = awards.filter(\.isTime)
        return (awards.filter { !$0.isTime } + times).map { award($0, now) }
    }

    private mutating func award(_ award: PlayerRecord.Award, _ now: Int64) -> Effect {
        handedOver += 1
        let number = handedOver
        switch award {
        case .time(let level, let milliseconds, let isBest):
            self.isBest = isBest
            let detail = "\(TimeText.seconds(milliseconds))\(isBest ? ", your best time" : "")"
            add(number, level.rawValue, level.title, detail, now)
            return .submitTime(level, milliseconds: milliseconds, number: number)
        case .unlocked(let id):
            add(number, id.rawValue, id.words.title, id.words.description, now)
            return .submitAchievement(id, steps: nil, number: number)
        case .steps(let id, let steps, let isLast):
            if isLast { add(number, id.rawValue, id.words.title, id.words.description, now) }
            return .submitAchievement(id, steps: steps, number: number)
        }
    }

    private mutating func add(_ number: Int, _ item: String, _ title: String, _ detail: String, _ now: Int64) {
        keep(News(number: number, item: item, title: title, detail: detail, state: .saving, changedNanoseconds: now))
    }

    private mutating func keep(_ item: News) {
        news.append(item)
        if news.count > Self.keptNews { news.removeFirst(news.count - Self.keptNews) }
    }

    private static let keptNews = 100

    // MARK: - Reports

    /// Takes what kleos said.
    package mutating func hear(_ report: Report, atNanoseconds now: Int64) {
        switch report {
        case .saved(let number, let key):
            saved += 1
            guard let key else {
                spooled.insert(number)
                change(number, .saved, now)
                break
            }
            if let index = early.firstIndex(where: { $0.key == key }) {
                change(number, .confirmed(rank: early.remove(at: index).rank), now)
            } else {
                keys[key] = number
                change(number, .saved, now)
            }
        case .refused(let number, let message):
            refused += 1
            change(number, .refused(message), now)
        case .confirmed(let key, let item, let rank, let title, let detail):
            if let number = keys.removeValue(forKey: key) ?? takeSpooled(item) {
                change(number, .confirmed(rank: rank), now)
            } else {
                early.append((key, item, rank, title, detail))
            }
        }
        guard saved + refused == handedOver else { return }
        // A confirmation may overtake its answer; those that are left are of earlier games, played without network.
        for confirmation in early {
            var old = News(
                number: 0, item: confirmation.item, title: confirmation.title, detail: confirmation.detail,
                state: .confirmed(rank: confirmation.rank), changedNanoseconds: now)
            old.isOld = true
            keep(old)
        }
        early = []
    }

    /// The oldest award for this leaderboard or achievement that went into the spool.
    private mutating func takeSpooled(_ item: String) -> Int? {
        guard let number = news.first(where: { spooled.contains($0.number) && $0.item == item })?.number else {
            return nil
        }
        spooled.remove(number)
        return number
    }

    private mutating func change(_ number: Int, _ state: News.State, _ now: Int64) {
        guard let index = news.firstIndex(where: { $0.number == number }) else { return }
        news[index].state = state
        news[index].changedNanoseconds = now
    }
}
