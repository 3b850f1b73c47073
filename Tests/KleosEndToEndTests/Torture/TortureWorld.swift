import Dispatch
import Glibc
import KleosJSON
import KleosModel
import KleosPractice
import KleosSupport
import KleosTestSupport
import Testing

/// A real daemon, real endpoints behind relays, and clients that never let up.
final class TortureWorld {
    /// An endpoint with the relay before it.
    struct Service {
        let name: String
        let practice: PracticeProcess
        let relay: EndpointRelay
    }

    /// What the daemon is set up with.
    struct Setup {
        var services = ["home", "second"]
        /// Added to the first section of the game.
        var game = "Confirms=all"
        /// Added to each endpoint's first section.
        var endpoint = ""
        /// What the endpoints do wrong from the beginning.
        var faults = [
            "--drop-answer=0.06", "--failure-share", "0.06", "--failure-statuses", "503", "--html=0.01", "--latency",
            "0-3",
        ]
    }

    let ledger = TortureLedger()
    let services: [Service]
    let scenario: DaemonHarness
    private let clients = DispatchGroup()
    private var programCount = 0
    private var random: SeededGenerator

    static let players = ["ada", "mira", "noor"]

    init(_ setup: Setup, seed: UInt64) throws {
        services = try setup.services.map { name in
            let practice = try PracticeProcess(setup.faults + ["--seed", String(seed % 1_000_000)])
            return Service(name: name, practice: practice, relay: try EndpointRelay(to: practice.url))
        }
        var files = [
            "games.d/arcade.conf": TortureGame.file(
                "Endpoints=\(setup.services.joined(separator: " "))\n\(setup.game)"),
            "games.d/minesweeper.conf": try Scenario.sampleGame,
        ]
        for service in services {
            files["endpoints.d/\(service.name).conf"] =
                "[Endpoint]\nURL=\(service.relay.url)\n\(setup.endpoint)\n[Retry]\nBase=250ms\nCap=250ms\n"
        }
        scenario = try DaemonHarness(files: files)
        random = SeededGenerator(seed: seed)
    }

    /// Starts the daemon and tells the clients. Throws `SystemError`.
    func start() throws(SystemError) {
        try scenario.start()
        ledger.monitor.change { $0.starts += 1 }
    }

    // MARK: - Clients

    private func begin(_ name: String, _ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "torture.\(name)").async(group: clients, execute: work)
    }

    /// Starts the clients that live as long as the torture.
    func beginClients() {
        let (path, ledger) = (scenario.socketPath, ledger)
        for (index, window) in [1, 4, 16].enumerated() {
            let seed = random.next()
            begin("raw-\(index)") {
                var client = RawSubmitter(
                    name: "raw-\(index)", path: path, ledger: ledger, players: Self.players, window: window, seed: seed)
                client.run()
            }
        }
        for index in 0..<2 {
            let client = LibrarySubmitter(
                name: "library-\(index)", path: path, ledger: ledger, players: Self.players, seed: random.next())
            begin("library-\(index)") { client.run() }
        }
        for route in ["cabinet", "lamp"] {
            let claimer = claimer(route)
            begin(route) { [claimer] in
                var claimer = claimer
                claimer.run()
            }
        }
    }

    /// A program that shows notices; each of them has to be confirmed by all endpoints of its game.
    func claimer(_ route: String) -> NoticeClaimer {
        let relays = services.map(\.relay)
        return NoticeClaimer(route: route, path: scenario.socketPath, ledger: ledger, seed: random.next()) {
            key, game in
            relays.prefix(game == TortureGame.id ? relays.count : 1).allSatisfy { $0.hasConfirmed(key) }
        }
    }

    /// Starts a program that submits some events and ends.
    func beginProgram() {
        programCount += 1
        let seed = random.next()
        if programCount.isMultiple(of: 2) {
            let program = LineProgram(
                name: "lines-\(programCount)", folder: scenario.folder, socketPath: scenario.socketPath, ledger: ledger,
                players: Self.players, seed: seed)
            begin(program.name) { program.run() }
        } else {
            let killedAfter = programCount % 8 == 3 ? Int.random(in: 1..<GameProgram.events, using: &random) : nil
            let program = GameProgram(
                player: "game-\(programCount)", folder: scenario.folder, socketPath: scenario.socketPath,
                ledger: ledger, seed: seed, killedAfter: killedAfter)
            begin(program.player) { program.run() }
        }
    }

    /// Lets nobody make further events, and waits until every client has its answers.
    func finishClients() {
        ledger.monitor.change { $0.isOver = true }
        if clients.wait(timeout: Patience.end) != .success { ledger.problem("a client never got all its answers") }
    }

    // MARK: - The end

    /// Ends the faults and waits until nothing is on its way any more.
    func drain() throws {
        for service in services {
            service.relay.release()
            let result = try service.practice.steer("faults", ["--clear"])
            try #require(result.isSuccess, "\(result.errors)")
        }
        try kleos("flush")
        try kleos("watch", "--until-empty", "--timeout", "600", "--quiet")
    }

    /// Runs `kleos` and requires success; returns what it printed.
    @discardableResult
    func kleos(_ arguments: String...) throws -> String {
        let result = try scenario.kleos(arguments)
        try #require(result.isSuccess, "kleos \(arguments): \(result.output)\(result.errors)")
        return result.output
    }

    /// The rows of a `--json` listing.
    func rows(_ arguments: String...) throws -> [JSONValue] {
        let result = try scenario.kleos(arguments + ["--json"])
        try #require(result.isSuccess, "kleos \(arguments): \(result.errors)")
        return try result.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    }
}
