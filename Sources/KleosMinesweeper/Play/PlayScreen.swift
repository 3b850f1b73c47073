/// Draws the game for a terminal of a given size. Pure.
package struct PlayScreen: Sendable {
    /// Columns and rows.
    package struct Size: Sendable, Equatable {
        package var columns: Int
        package var rows: Int

        /// Makes a size.
        package init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    let theme: Theme
    let player: String
    private static let header = 2
    /// News count as new for so long.
    package static let popupNanoseconds: Int64 = 4_000_000_000

    /// Makes a drawer for a player.
    package init(theme: Theme, player: String) {
        self.theme = theme
        self.player = player
    }

    /// The lines of the whole screen, with their styles; as many as there are rows.
    package func lines(_ play: Play, size: Size, atNanoseconds now: Int64) -> [String] {
        var lines =
            switch play.view {
            case .field: field(play, size, now)
            case .achievements: achievements(play, size)
            }
        lines = Array(lines.prefix(size.rows))
        lines += Array(repeating: "", count: max(0, size.rows - lines.count))
        return lines
    }

    /// When the screen changes by itself, of the same clock; nil where it does not.
    package func nextChange(_ play: Play, afterNanoseconds now: Int64) -> Int64? {
        var moments: [Int64] = []
        if play.isRunning {
            let milliseconds = play.milliseconds(atNanoseconds: now)
            moments.append(now + (1_000 - milliseconds % 1_000) * 1_000_000)
        }
        moments += play.news.suffix(20).map { $0.changedNanoseconds + Self.popupNanoseconds }.filter { $0 > now }
        return moments.min()
    }

    private func field(_ play: Play, _ size: Size, _ now: Int64) -> [String] {
        let level = play.game.level
        let (width, height) = (level.width * 2 + 3, level.height + 2)
        guard size.columns >= max(width, 40), size.rows >= height + Self.header + 2 else {
            return tooSmall(level, size, needs: Size(columns: max(width, 40), rows: height + Self.header + 2))
        }
        var lines = [title(play, size), status(play, size, now)]
        lines += board(play, size, margin: (size.columns - width) / 2)
        let room = size.rows - lines.count - 1
        lines += news(play, size, rows: room, now)
        return lines + [keys(play, size)]
    }

    private func tooSmall(_ level: Level, _ size: Size, needs: Size) -> [String] {
        var line = StyledLine(theme, columns: size.columns)
        line.add(
            "\(level.title) needs \(needs.columns) columns and \(needs.rows) rows; here are \(size.columns) and "
                + "\(size.rows).", .strong, upTo: size.columns)
        var second = StyledLine(theme, columns: size.columns)
        second.add("Make the window larger, or press 1 for Beginner, q to quit.", upTo: size.columns)
        return [line.text, second.text]
    }

    // MARK: - Above the field

    private func title(_ play: Play, _ size: Size) -> String {
        var line = StyledLine(theme, columns: size.columns)
        line.add(" Mission: Minesweeper", .strong)
        line.add("  \(play.game.level.title)", .accent)
        let waiting = play.handedOver - play.saved
        let state =
            play.handedOver == 0
            ? "" : waiting == 0 ? "\(play.saved) saved with kleos" : "kleos has \(play.saved) of \(play.handedOver)"
        let right = [player, state].filter { !$0.isEmpty }.joined(separator: "  ") + " "
        line.pad(to: size.columns - right.count)
        line.add(right, waiting == 0 ? .quiet : .plain, upTo: size.columns)
        return line.text
    }

    private func status(_ play: Play, _ size: Size, _ now: Int64) -> String {
        var line = StyledLine(theme, columns: size.columns)
        line.add(" \(theme.signs.flag) ", .flag)
        line.add("\(play.minesLeft)", .strong)
        line.pad(to: 9)
        let facts = play.game.facts
        if play.game.isOver, facts.isWon {
            line.add("Won in \(TimeText.seconds(facts.milliseconds))", .good)
            line.add(play.isBest ? ", your best time" : "", .good)
            line.add("  r plays again", .quiet, upTo: size.columns)
        } else if play.game.isOver {
            line.add("Lost, with \(facts.remainingSafe) to go", .bad)
            line.add("  r plays again", .quiet, upTo: size.columns)
        } else {
            line.add("\(play.milliseconds(atNanoseconds: now) / 1_000) s", .strong)
        }
        if let best = play.record.best[play.game.level] {
            let text = "best \(TimeText.seconds(best)) "
            if line.width + text.count < size.columns {
                line.pad(to: size.columns - text.count)
                line.add(text, .quiet)
            }
        }
        return line.text
    }

    // MARK: - The field

    private func board(_ play: Play, _ size: Size, margin: Int) -> [String] {
        let level = play.game.level
        let signs = theme.signs
        let corners = signs.corners.map(String.init)
        let rule = String(repeating: signs.horizontal, count: level.width * 2 + 1)
        let space = String(repeating: " ", count: margin)
        var lines = [space + theme.paint(corners[0] + rule + corners[1], .quiet)]
        for row in 0..<level.height {
            var line = StyledLine(theme, columns: size.columns)
            line.add(space)
            line.add(signs.vertical, .quiet)
            for column in 0..<level.width {
                let index = row * level.width + column
                let isHere = index == play.cursor
                let isAfter = column > 0 && index - 1 == play.cursor
                line.add(isHere ? "[" : isAfter ? "]" : " ", isHere || isAfter ? .accent : .plain)
                let (sign, style) = cell(play.game.board, index)
                line.add(sign, style, isUnderCursor: isHere)
            }
            let isLast = play.cursor == row * level.width + level.width - 1
            line.add(isLast ? "]" : " ", isLast ? .accent : .plain)
            line.add(signs.vertical, .quiet)
            lines.append(line.text)
        }
        return lines + [space + theme.paint(corners[2] + rule + corners[3], .quiet)]
    }

    private func cell(_ board: Board?, _ index: Int) -> (String, Theme.Style) {
        let signs = theme.signs
        guard let board else { return (signs.covered, .covered) }
        if board.exploded == index { return (signs.exploded, .bad) }
        switch board.covers[index] {
        case .flagged where board.isOver && !board.revealsMine(at: index): return (signs.wrongFlag, .bad)
        case .flagged: return (signs.flag, .flag)
        case .covered where board.revealsMine(at: index): return (signs.mine, .mine)
        case .covered: return (signs.covered, .covered)
        case .uncovered:
            guard let number = board.number(at: index), number > 0 else { return (signs.empty, .quiet) }
            return (String(number), .number(number))
        }
    }

    // MARK: - Below the field

    private func news(_ play: Play, _ size: Size, rows: Int, _ now: Int64) -> [String] {
        guard rows > 0 else { return [] }
        // A free line sets the news apart where there is one.
        let isAiry = rows > 4
        let room = isAiry ? rows - 2 : rows
        let shown = play.news.suffix(room)
        var lines = shown.map { item(play, $0, size, now) }
        if play.news.isEmpty {
            var line = StyledLine(theme, columns: size.columns)
            line.add(" Times and achievements go to kleos as you earn them.", .quiet, upTo: size.columns)
            lines = [line.text]
        }
        if isAiry { lines.insert("", at: 0) }
        return lines + Array(repeating: "", count: max(0, rows - lines.count))
    }

    private func item(_ play: Play, _ news: News, _ size: Size, _ now: Int64) -> String {
        var line = StyledLine(theme, columns: size.columns)
        let isNew = now - news.changedNanoseconds < Self.popupNanoseconds
        let (state, style) = word(news.state)
        let end = size.columns - state.count - 2
        line.add(" \(theme.signs.star) ", isNew ? .popup : .accent)
        line.add("\(news.title) ", isNew ? .popup : .strong, upTo: end)
        line.add(" \(news.detail)", upTo: end)
        line.pad(to: size.columns - state.count - 1)
        line.add(state, style)
        return line.text
    }

    private func word(_ state: News.State) -> (String, Theme.Style) {
        switch state {
        case .saving: ("being saved", .quiet)
        case .saved: ("saved", .accent)
        case .confirmed(let rank?): ("confirmed, rank \(rank) \(theme.signs.done)", .good)
        case .confirmed(nil): ("confirmed \(theme.signs.done)", .good)
        case .refused: ("refused", .bad)
        }
    }

    private func keys(_ play: Play, _ size: Size) -> String {
        let move = theme.hasUnicode ? theme.signs.arrows : "hjkl"
        let all = [
            (move, "move"), ("space", "open"), ("f", "flag"), ("r", "new"), ("1 2 3", "level"), ("a", "achievements"),
            ("q", "quit"),
        ]
        var line = StyledLine(theme, columns: size.columns)
        for (key, meaning) in all where line.width + key.count + meaning.count + 3 <= size.columns {
            line.add(line.width == 0 ? " " : "  ")
            line.add(key, .strong)
            line.add(" \(meaning)", .quiet)
        }
        return line.text
    }

    // MARK: - Achievements

    private func achievements(_ play: Play, _ size: Size) -> [String] {
        let all = AchievementID.allCases
        var title = StyledLine(theme, columns: size.columns)
        title.add(" Achievements of \(player): ", .strong, upTo: size.columns)
        title.add("\(play.record.earned.count) of \(all.count)", .accent, upTo: size.columns)
        let columns = size.columns >= 60 ? 2 : 1
        let rows = (all.count + columns - 1) / columns
        let width = size.columns / columns
        var lines = [title.text, ""]
        for row in 0..<rows {
            var line = StyledLine(theme, columns: size.columns)
            for column in 0..<columns {
                let index = column * rows + row
                guard index < all.count else { continue }
                line.pad(to: column * width)
                achievement(all[index], play, &line, upTo: (column + 1) * width - 1)
            }
            lines.append(line.text)
        }
        let last = size.rows - lines.count - 1
        if last > 0 { lines += Array(repeating: "", count: last) }
        var back = StyledLine(theme, columns: size.columns)
        back.add(" Any key leads back to the field.", .quiet, upTo: size.columns)
        return Array(lines.prefix(max(0, size.rows - 1))) + [back.text]
    }

    private func achievement(_ id: AchievementID, _ play: Play, _ line: inout StyledLine, upTo end: Int) {
        let isEarned = play.record.earned.contains(id)
        line.add(isEarned ? " \(theme.signs.star) " : "   ", .accent)
        // The game's file hides this one.
        let title = id == .impossibleMission && !isEarned ? "???" : id.words.title
        line.add(title, isEarned ? .strong : .quiet, upTo: end)
        if !isEarned, let steps = play.record.steps(of: id), let total = AchievementRules.counted[id] {
            line.add("  \(steps) of \(total)", .quiet, upTo: end)
        } else if id != .impossibleMission || isEarned {
            line.add("  \(id.words.description)", .quiet, upTo: end)
        }
    }
}
