import KleosMinesweeper
import KleosSupport
import Testing

@Suite struct PlayTests {
    private static let second: Int64 = 1_000_000_000

    /// Opens every cell without a mine, from the middle on; the effects of the last key come back.
    private func win(_ play: inout Play, atNanoseconds now: Int64 = 0) -> [Play.Effect] {
        var effects = play.press(.open, atNanoseconds: now)
        while let board = play.game.board, !board.isOver {
            let safe = board.covers.indices.first { cell in
                var trial = board
                return board.covers[cell] == .covered && trial.uncover(cell) != [] && trial.exploded == nil
            }
            guard let safe else { break }
            move(&play, to: safe)
            effects = play.press(.open, atNanoseconds: now + Self.second)
        }
        return effects
    }

    private func move(_ play: inout Play, to cell: Int) {
        let width = play.game.level.width
        while play.cursor / width > cell / width { _ = play.press(.up, atNanoseconds: 0) }
        while play.cursor / width < cell / width { _ = play.press(.down, atNanoseconds: 0) }
        while play.cursor % width > cell % width { _ = play.press(.left, atNanoseconds: 0) }
        while play.cursor % width < cell % width { _ = play.press(.right, atNanoseconds: 0) }
    }

    private func newPlay(_ level: Level = .beginner) -> Play { Play(level, random: SeededGenerator(seed: 3)) }

    @Test func theCursorStaysInTheField() {
        var play = newPlay()
        #expect(play.cursor == 40)
        for _ in 0..<20 { _ = play.press(.up, atNanoseconds: 0) }
        for _ in 0..<20 { _ = play.press(.left, atNanoseconds: 0) }
        #expect(play.cursor == 0)
        for _ in 0..<20 { _ = play.press(.down, atNanoseconds: 0) }
        #expect(play.cursor == 72)
        _ = play.press(.end, atNanoseconds: 0)
        #expect(play.cursor == 80)
        _ = play.press(.right, atNanoseconds: 0)
        #expect(play.cursor == 80)
        _ = play.press(.home, atNanoseconds: 0)
        #expect(play.cursor == 72)
    }

    @Test func timeRunsFromTheFirstOpenedCellToTheEnd() {
        var play = newPlay()
        _ = play.press(.character("f"), atNanoseconds: 0)
        #expect(!play.isRunning)
        #expect(play.milliseconds(atNanoseconds: 9 * Self.second) == 0)
        _ = play.press(.open, atNanoseconds: 10 * Self.second)
        #expect(play.isRunning)
        #expect(play.milliseconds(atNanoseconds: 12 * Self.second) == 2_000)
        _ = win(&play, atNanoseconds: 14 * Self.second)
        #expect(!play.isRunning)
        #expect(play.milliseconds(atNanoseconds: 99 * Self.second) == 5_000)
        #expect(play.isBest)
    }

    @Test func aWinIsHandedOverWithAllThatItEarned() {
        var play = newPlay()
        let effects = win(&play)
        #expect(effects.last == .submitTime(.beginner, milliseconds: 1_000, number: effects.count))
        let achievements = effects.compactMap { effect -> AchievementID? in
            if case .submitAchievement(let id, _, _) = effect { id } else { nil }
        }
        #expect(achievements.contains(.firstWin))
        #expect(achievements.contains(.tenWins))
        #expect(play.handedOver == effects.count)
        #expect(play.news.last?.title == "Beginner")
        #expect(play.news.last?.detail == "1.000 s, your best time")
        // Steps that unlock nothing are handed over and are no news.
        #expect(!play.news.contains { $0.title == AchievementID.tenWins.words.title })
        #expect(play.news.allSatisfy { $0.state == .saving })
        // A second win earns nothing of that again.
        _ = play.press(.character("r"), atNanoseconds: 0)
        let second = win(&play)
        #expect(!second.contains { if case .submitAchievement(.firstWin, _, _) = $0 { true } else { false } })
    }

    @Test func nothingIsAwardedThatThePlayerHasAlready() {
        var play = newPlay()
        for id in AchievementID.allCases { play.record.learn(id, progress: 100, steps: AchievementRules.counted[id]) }
        play.record.learn(.beginner, milliseconds: 5)
        #expect(win(&play) == [.submitTime(.beginner, milliseconds: 1_000, number: 1)])
        #expect(!play.isBest)
        #expect(play.news.first?.detail == "1.000 s")
    }

    @Test func newsFollowWhatKleosSays() {
        var play = newPlay()
        let count = win(&play).count
        play.hear(.saved(number: 1, key: "k1"), atNanoseconds: 5)
        #expect(play.news[0].state == .saved)
        #expect(play.news[0].changedNanoseconds == 5)
        play.hear(.confirmed(key: "k1", item: "", rank: 2, title: "", detail: ""), atNanoseconds: 6)
        #expect(play.news[0].state == .confirmed(rank: 2))
        // A confirmation that overtakes its answer.
        play.hear(.confirmed(key: "k2", item: "", rank: nil, title: "", detail: ""), atNanoseconds: 7)
        #expect(play.news[1].state == .saving)
        play.hear(.saved(number: 2, key: "k2"), atNanoseconds: 8)
        #expect(play.news[1].state == .confirmed(rank: nil))
        play.hear(.refused(number: 3, message: "no"), atNanoseconds: 9)
        #expect(play.news[2].state == .refused("no"))
        // One of an earlier game shows when everything of this one is known.
        let before = play.news.count
        play.hear(.confirmed(key: "old", item: "x", rank: nil, title: "Old", detail: "of yesterday"), atNanoseconds: 10)
        #expect(play.news.count == before)
        for number in 4...count { play.hear(.saved(number: number, key: "k\(number)"), atNanoseconds: 11) }
        #expect(play.news.count == before + 1)
        #expect(play.news.last?.title == "Old")
        #expect(play.news.last?.isOld == true)
    }

    /// Their keys are not known, so that what a confirmation is about has to do.
    @Test func newsFromTheSpoolAreConfirmedByWhatTheyAreAbout() {
        var play = newPlay()
        let count = win(&play).count
        for number in 1...count { play.hear(.saved(number: number, key: nil), atNanoseconds: 1) }
        #expect(play.news.allSatisfy { $0.state == .saved })
        play.hear(
            .confirmed(key: "k", item: "first-win", rank: nil, title: "Achievement unlocked", detail: ""),
            atNanoseconds: 2)
        let before = play.news.count
        #expect(play.news.filter { $0.state == .confirmed(rank: nil) }.map(\.title) == ["Minesweeper"])
        // Only once: the next one is of an earlier game.
        play.hear(.confirmed(key: "l", item: "first-win", rank: nil, title: "Again", detail: ""), atNanoseconds: 3)
        #expect(play.news.count == before + 1)
        #expect(play.news.last?.title == "Again")
    }

    @Test func opensAroundANumberThatHasItsFlags() throws {
        var play = newPlay()
        _ = play.press(.open, atNanoseconds: 0)
        let board = try #require(play.game.board)
        #expect(board.number(at: 40) == 1)
        let mine = try #require(
            board.neighbors(of: 40).first { cell in
                var trial = board
                _ = trial.uncover(cell)
                return trial.exploded != nil
            })
        // Without a flag nothing happens.
        _ = play.press(.open, atNanoseconds: 0)
        #expect(play.game.board == board)
        move(&play, to: mine)
        _ = play.press(.character("f"), atNanoseconds: 0)
        #expect(play.minesLeft == 9)
        // A flag protects its cell.
        _ = play.press(.open, atNanoseconds: 0)
        #expect(play.game.board?.covers[mine] == .flagged)
        move(&play, to: 40)
        _ = play.press(.open, atNanoseconds: 0)
        let opened = try #require(play.game.board)
        for cell in opened.neighbors(of: 40) where cell != mine { #expect(opened.covers[cell] == .uncovered) }
        #expect(opened.exploded == nil)
    }

    @Test func levelsBeginAnew() {
        var play = newPlay()
        _ = play.press(.open, atNanoseconds: 0)
        _ = play.press(.character("3"), atNanoseconds: 0)
        #expect(play.game.level == .advanced)
        #expect(play.game.board == nil)
        #expect(play.minesLeft == 99)
        #expect(play.cursor == 8 * 30 + 15)
        #expect(!play.isRunning)
    }

    @Test func anyKeyLeadsBackFromTheAchievements() {
        var play = newPlay()
        _ = play.press(.character("a"), atNanoseconds: 0)
        #expect(play.view == .achievements)
        #expect(play.press(.character("r"), atNanoseconds: 0) == [])
        #expect(play.view == .field)
        _ = play.press(.character("a"), atNanoseconds: 0)
        #expect(play.press(.character("q"), atNanoseconds: 0) == [.quit])
    }

    @Test func tellsOfTheRest() {
        var play = newPlay()
        #expect(play.press(.interrupt, atNanoseconds: 0) == [.quit])
        #expect(play.press(.suspend, atNanoseconds: 0) == [.suspend])
        #expect(play.press(.refresh, atNanoseconds: 0) == [.redraw])
        #expect(play.press(.focus(false), atNanoseconds: 0) == [.presence(false)])
    }
}
