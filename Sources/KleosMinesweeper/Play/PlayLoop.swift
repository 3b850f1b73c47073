import Dispatch
import Glibc
import KleosClient
import KleosModel
import KleosSupport

/// Lets somebody play at a terminal: reads keys, draws, and hands over to kleos, for which it never waits.
final class PlayLoop {
    private let screen: TerminalScreen
    private let inbox: PlayInbox
    private let client: KleosClient
    private let drawer: PlayScreen
    private let clock = SystemClock()
    private var keys = KeyReader()
    private var play: Play
    private var endSignal: Int32?
    private var hasQuit = false

    /// Throws `SystemError` where there is no terminal.
    init(_ options: MinesweeperOptions) throws(SystemError) {
        screen = try TerminalScreen()
        // Before the client, whose threads then have the signals blocked too.
        inbox = try PlayInbox()
        let player = options.player ?? Environment["USER"] ?? "player"
        client = KleosClient(game: AutoRun.gameID, player: player, socketPath: options.socketPath)
        drawer = PlayScreen(theme: Theme { Environment[$0] }, player: player)
        play = Play(
            options.level ?? .beginner, random: options.seed.map(SeededGenerator.init(seed:)) ?? .unpredictable())
    }

    /// Plays until the player quits or a signal ends it, and returns the exit code.
    func run() -> Int32 {
        connect()
        screen.enter()
        while !hasQuit, endSignal == nil {
            screen.show(drawer.lines(play, size: screen.size, atNanoseconds: clock.monotonicNanoseconds))
            wait()
        }
        screen.leave()
        finish()
        return endSignal.map { 128 + $0 } ?? 0
    }

    private func connect() {
        let inbox = inbox
        client.standing { result in
            // What the player has already is of use, and nothing that a game has to wait for.
            if case .success(let standings) = result { inbox.put(.standings(standings)) }
        }
        client.onNotice { notice in
            inbox.put(
                .report(
                    .confirmed(
                        key: notice.key, item: notice.leaderboard ?? notice.achievement ?? "", rank: notice.rank,
                        title: notice.title, detail: notice.body)))
        }
        client.onOpen { _ in inbox.put(.open) }
        client.setForeground(true)
        // Started by a notice of an achievement, it shows those.
        if Environment["KLEOS_ACHIEVEMENT"] != nil { play.followNotice() }
    }

    /// Waits for a key, a message or the next change of the screen, and takes it.
    private func wait() {
        let now = clock.monotonicNanoseconds
        let wake = drawer.nextChange(play, afterNanoseconds: now)
        // Rounded up, or the loop would turn until the moment has come.
        let milliseconds = wake.map { Int32(clamping: ($0 - now) / 1_000_000 + 1) } ?? -1
        var entries = [STDIN_FILENO, inbox.wakeup.number].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
        if entries[1].revents != 0 { for message in inbox.take() { take(message) } }
        if entries[0].revents != 0 { readKeys() }
    }

    private func readKeys() {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        // Sound: the kernel writes during the call only, and no more than the count.
        let count = bytes.withUnsafeMutableBytes { buffer in
            Retry.onInterrupt { read(STDIN_FILENO, buffer.baseAddress, buffer.count) }
        }
        guard count > 0 else {
            // The terminal is gone.
            hasQuit = true
            return
        }
        for key in keys.read(Array(bytes.prefix(count))) where !hasQuit {
            for effect in play.press(key, atNanoseconds: clock.monotonicNanoseconds) { carryOut(effect) }
        }
    }

    private func take(_ message: PlayInbox.Message) {
        switch message {
        case .report(let report): play.hear(report, atNanoseconds: clock.monotonicNanoseconds)
        case .standings(let standings): play.record.learn(standings)
        case .open:
            play.followNotice()
            screen.ring()
        case .signal(SIGWINCH): screen.forget()
        case .signal(SIGTSTP): suspend()
        case .signal(SIGCONT):
            // Whoever had the terminal meanwhile may have left it in any state.
            screen.enter()
        case .signal(let number): endSignal = endSignal ?? number
        }
    }

    private func suspend() {
        screen.leave()
        client.setForeground(false)
        // What is stopped here goes on here, with SIGCONT.
        kill(getpid(), SIGSTOP)
        client.setForeground(true)
        screen.enter()
    }

    private func carryOut(_ effect: Play.Effect) {
        switch effect {
        case .quit: hasQuit = true
        case .suspend: suspend()
        case .redraw: screen.forget()
        case .presence(let isForeground): client.setForeground(isForeground)
        case .submitTime(let level, let milliseconds, let number):
            client.submitScore(milliseconds, leaderboard: level.rawValue, completion: reporter(number))
        case .submitAchievement(let id, let steps, let number):
            client.submitAchievement(
                id.rawValue, progress: steps.map { .steps($0) } ?? .unlocked, completion: reporter(number))
        }
    }

    private func reporter(_ number: Int) -> @Sendable (Result<SubmitReceipt, KleosError>) -> Void {
        let inbox = inbox
        return { result in
            switch result {
            case .success(let receipt): inbox.put(.report(.saved(number: number, key: receipt.key)))
            case .failure(let error): inbox.put(.report(.refused(number: number, message: error.description)))
            }
        }
    }

    /// Says what came of it, on the terminal as it was before.
    private func finish() {
        let ended = DispatchSemaphore(value: 0)
        client.close(draining: 2_000) { _ in ended.signal() }
        ended.wait()
        for message in inbox.take() { take(message) }
        let games = "\(Counted.text(play.played.games, "game")) played, \(play.played.wins) won"
        let safe = play.handedOver == 0 ? "" : "; \(SubmissionText.safe(play.saved, of: play.handedOver))"
        StandardStream.output.write("Mission: Minesweeper: \(games)\(safe)\n")
    }
}
