import Dispatch
import Glibc
import KleosClient
import KleosJSON
import KleosModel
import KleosSupport
import KleosTestSupport
import KleosWire

/// A game that links the client library, which connects again by itself.
struct LibrarySubmitter {
    let name: String
    let path: String
    let ledger: TortureLedger
    let players: [String]
    let seed: UInt64

    private static let window = 8

    /// Submits until the ledger says that it is over, and waits for all answers.
    func run() {
        var random = SeededGenerator(seed: seed)
        let client = KleosClient(game: TortureGame.id, player: name, socketPath: path)
        let room = DispatchSemaphore(value: Self.window)
        var made = 0
        while !ledger.isOver {
            guard ledger.takePermit(milliseconds: 1_000) else { continue }
            room.wait()
            made += 1
            let tag = "\(name)-\(made)"
            var event = TortureGame.draw(
                player: players.randomElement(using: &random) ?? name, tag: tag, using: &random)
            if event.leaderboard == "latest" { event.player = name }
            submit(event, tag, with: client) { room.signal() }
            ledger.monitor.change { $0.sent += 1 }
        }
        if !client.waitUntilIdle(timeoutMilliseconds: 600_000) { ledger.problem("\(name): an answer never came") }
        client.close()
        for (id, spooled) in ledger.monitor.read(\.spooled) where spooled.tag.hasPrefix("\(name)-") {
            KeyFinder(name: name, path: path, ledger: ledger).find(id, spooled.event, spooled.tag)
        }
    }

    private func submit(
        _ event: Submission, _ tag: String, with client: KleosClient, then done: @escaping @Sendable () -> Void
    ) {
        let metadata = event.metadata.map { String(decoding: $0, as: UTF8.self) }
        let completion: @Sendable (Result<SubmitReceipt, KleosError>) -> Void = { result in
            switch result {
            case .success(let receipt):
                guard let key = receipt.key else {
                    ledger.monitor.change { $0.spooled[receipt.id] = (tag, event) }
                    break
                }
                // The library repeats by itself, so that a duplicate is no surprise here.
                ledger.acknowledge(event, tag: tag, key: key, isDuplicate: receipt.isDuplicate, wasSentBefore: true)
            case .failure(let error): ledger.problem("\(name): \(tag): \(error)")
            }
            done()
        }
        if let leaderboard = event.leaderboard, let value = event.value {
            client.submitScore(
                value, leaderboard: leaderboard, player: event.player, metadata: metadata, completion: completion)
        } else if let achievement = event.achievement {
            client.submitAchievement(
                achievement, progress: Self.progress(of: event), player: event.player, metadata: metadata,
                completion: completion)
        }
    }

    private static func progress(of event: Submission) -> AchievementProgress {
        if let steps = event.steps { return .steps(steps) }
        if let increment = event.increment { return .increment(increment) }
        return .percent(Int(event.progress ?? 100))
    }
}

/// The sample game as a program of its own, which may be killed.
struct GameProgram {
    let player: String
    let folder: TemporaryFolder
    let socketPath: String
    let ledger: TortureLedger
    let seed: UInt64
    /// Killed after so many acknowledgements; nil for not at all.
    let killedAfter: Int?

    static let events = 12

    /// Plays to the end.
    func run() {
        do {
            try play()
        } catch {
            ledger.problem("\(player): \(error)")
        }
    }

    private func play() throws {
        if killedAfter != nil { ledger.monitor.change { $0.killedPlayers.insert(player) } }
        let game = try ChildProcess(
            BuiltPrograms.path("kleos-minesweeper"),
            [
                "--events", String(Self.events), "--level", "beginner", "--player", player, "--json", "--wait", "600",
                "--seed", String(seed % 1_000_000),
            ],
            // Its lines name keys, which spooled events have none of yet.
            environment: ["KLEOS_SOCKET": socketPath, "KLEOS_SPOOL": "/nonexistent"],
            errorFile: folder.path("\(player).err"))
        var count = 0
        while let line = try game.nextLine() {
            note(try JSONParser.parse(Array(line.utf8)))
            count += 1
            if count == killedAfter { game.send(SIGKILL) }
        }
        let ending = game.wait()
        if ending != .exited(0), killedAfter == nil {
            ledger.problem(
                "\(player): ended with \(ending): \(try SmallFile.readText(at: folder.path("\(player).err")))")
        }
    }

    private func note(_ row: JSONValue) {
        guard let key = row["key"]?.stringValue, let id = row["id"]?.stringValue else {
            return ledger.problem("\(player): \(row.serialized)")
        }
        var event = Submission(kind: .score, game: "minesweeper", player: player)
        event.leaderboard = row["leaderboard"]?.stringValue
        event.value = row["value"]?.stringValue
        event.achievement = row["achievement"]?.stringValue
        event.progress = row["progress"]?.int64Value
        event.steps = row["steps"]?.int64Value
        if event.achievement != nil { event.kind = .achievement }
        ledger.monitor.change { _ = $0.gameKeys[player, default: []].insert(key) }
        ledger.acknowledge(event, tag: id, key: key, isDuplicate: false, wasSentBefore: true)
    }
}

/// `kleos submit -`, run again with the same lines until every one is safe.
struct LineProgram {
    let name: String
    let folder: TemporaryFolder
    let socketPath: String
    let ledger: TortureLedger
    let players: [String]
    let seed: UInt64

    static let events = 10
    private static let spooled = "\"state\":\"spooled\""

    /// Hands all lines over.
    func run() {
        do {
            try submit()
        } catch {
            ledger.problem("\(name): \(error)")
        }
    }

    private func submit() throws {
        var random = SeededGenerator(seed: seed)
        let events = (1...Self.events).map { number in
            let tag = "\(name)-\(number)"
            var event = TortureGame.draw(
                player: players.randomElement(using: &random) ?? name, tag: tag, using: &random)
            if event.leaderboard == "latest" { event.player = name }
            return (tag, event)
        }
        let input = folder.path("\(name).in")
        let lines = events.map { JSONValue.object($0.1.parameters).serialized + "\n" }.joined()
        try SmallFile.replace(input, with: Array(lines.utf8))
        var wasRun = false
        while true {
            let starts = ledger.monitor.read(\.starts)
            let result = try ChildProcess(
                BuiltPrograms.path("kleos"), ["submit", "-", "--json"],
                environment: ["KLEOS_SOCKET": socketPath, "NO_COLOR": "1"], errorFile: folder.path("\(name).err"),
                input: input
            ).finish()
            try note(result.output, events, wasRun: wasRun)
            if result.isSuccess { return findSpooled(result.output, events) }
            wasRun = true
            _ = ledger.monitor.wait(milliseconds: 1_000) { $0.starts != starts }
        }
    }

    /// What was spooled is safe, and not run again.
    private func findSpooled(_ output: String, _ events: [(tag: String, event: Submission)]) {
        let finder = KeyFinder(name: name, path: socketPath, ledger: ledger)
        for (line, entry) in zip(output.split(separator: "\n"), events) where line.contains(Self.spooled) {
            finder.find(entry.event.clientID ?? "", entry.event, entry.tag)
        }
    }

    private func note(_ output: String, _ events: [(tag: String, event: Submission)], wasRun: Bool) throws {
        for (line, entry) in zip(output.split(separator: "\n"), events) where !line.contains(Self.spooled) {
            let value = try JSONParser.parse(Array(line.utf8))
            guard let answer = SubmitAnswer(json: value) else {
                ledger.problem("\(name): \(value.serialized)")
                continue
            }
            ledger.monitor.change { if wasRun { $0.resends += 1 } }
            ledger.acknowledge(
                entry.event, tag: entry.tag, key: answer.key.description, isDuplicate: answer.isDuplicate,
                wasSentBefore: wasRun)
        }
    }
}
