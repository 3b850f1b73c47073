import KleosClient
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// A client that speaks the protocol itself: many requests at once, and after a lost answer the same again.
struct RawSubmitter {
    private struct Unanswered {
        var event: Submission
        var tag: String
        var wasSentBefore = false
        var request: Int64 = 0
    }

    private let name: String
    private let path: String
    private let ledger: TortureLedger
    private let players: [String]
    private let window: Int
    private var random: SeededGenerator
    private var made = 0
    private var unanswered: [Unanswered] = []
    private var answered: [(tag: String, event: Submission)] = []

    init(name: String, path: String, ledger: TortureLedger, players: [String], window: Int, seed: UInt64) {
        self.name = name
        self.path = path
        self.ledger = ledger
        self.players = players
        self.window = window
        random = SeededGenerator(seed: seed)
    }

    /// Submits until the ledger says that it is over and everything is answered.
    mutating func run() {
        while !(ledger.isOver && unanswered.isEmpty) {
            let starts = ledger.monitor.read(\.starts)
            do throws(SystemError) {
                try talk(on: try KleosConnection(path: path))
            } catch {
                // The daemon is dead; it says so by its next start.
                _ = ledger.monitor.wait(milliseconds: 100) { $0.starts != starts || $0.isOver }
            }
        }
    }

    /// One connection, to its end, which comes from either side. What is not answered stays for the next.
    private mutating func talk(on connection: KleosConnection) throws(SystemError) {
        do throws(ConnectionError) {
            for index in unanswered.indices { try send(index, connection) }
            if let old = answered.suffix(20).randomElement(using: &random) { try echo(old, connection) }
            while true {
                while unanswered.count < window, ledger.takePermit(milliseconds: unanswered.isEmpty ? 1_000 : 0) {
                    make()
                    try send(unanswered.endIndex - 1, connection)
                }
                if unanswered.isEmpty {
                    if ledger.isOver { return }
                    continue
                }
                // A client may break off as well.
                if Int.random(in: 0..<50, using: &random) == 0 { return }
                try receiveOldest(connection)
            }
        } catch {
            if case .refused(let reason) = error {
                ledger.problem("\(name): refused: \(reason)")
                unanswered = []
            }
        }
    }

    private mutating func make() {
        made += 1
        let tag = "\(name)-\(made)"
        // The order of a player's latest scores is known only where one client sends them.
        var event = TortureGame.draw(
            player: players.randomElement(using: &random) ?? name, tag: tag, using: &random)
        if event.leaderboard == "latest" { event.player = name }
        unanswered.append(Unanswered(event: event, tag: tag))
    }

    private mutating func send(_ index: Int, _ connection: KleosConnection) throws(ConnectionError) {
        let isRepetition = unanswered[index].request != 0
        if isRepetition { unanswered[index].wasSentBefore = true }
        // A part of it may arrive even where the connection breaks meanwhile.
        unanswered[index].request = -1
        unanswered[index].request = try connection.send(.submit, unanswered[index].event.parameters)
        ledger.monitor.change { state in
            state.sent += 1
            if isRepetition { state.resends += 1 }
        }
    }

    private mutating func receiveOldest(_ connection: KleosConnection) throws(ConnectionError) {
        let oldest = unanswered[0]
        let value = try connection.receive(oldest.request)
        guard let answer = SubmitAnswer(json: value) else {
            return ledger.problem("\(name): \(oldest.tag) was answered with \(value.serialized)")
        }
        unanswered.removeFirst()
        answered.append((oldest.tag, oldest.event))
        ledger.acknowledge(
            oldest.event, tag: oldest.tag, key: answer.key.description, isDuplicate: answer.isDuplicate,
            wasSentBefore: oldest.wasSentBefore)
    }

    /// Submits again what was acknowledged before: the daemon has to know it still.
    private func echo(
        _ old: (tag: String, event: Submission), _ connection: KleosConnection
    ) throws(ConnectionError) {
        let request = try connection.send(.submit, old.event.parameters)
        guard let answer = SubmitAnswer(json: try connection.receive(request)) else { return }
        ledger.monitor.change { $0.echoes += 1 }
        ledger.acknowledge(
            old.event, tag: old.tag, key: answer.key.description, isDuplicate: answer.isDuplicate,
            wasSentBefore: true)
    }
}
