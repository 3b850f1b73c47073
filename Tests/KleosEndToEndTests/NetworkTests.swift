import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// The network of the machine comes and goes while the real daemon works.
@Suite("The network", .enabled(if: OwnNetwork.isAvailable, "needs a network of its own"))
struct NetworkTests {
    private let network: OwnNetwork
    private let daemon: DaemonHarness
    private let service: ChildProcess

    /// The address of the service, which this machine gets only later.
    private static let address = "192.0.2.9"

    init() throws {
        network = try OwnNetwork()
        try network.addCard()
        daemon = try DaemonHarness(files: [
            "kleosd.conf": "[Daemon]\nLogLevel=debug\n", "games.d/minesweeper.conf": try Scenario.sampleGame,
        ])
        service = try network.start(
            BuiltPrograms.path("kleos-practice"), ["--listen", "0.0.0.0:0", "--allow-remote"])
        let line = try #require(try service.nextLine())
        let port = try #require(line.split(separator: ":").last)
        // Without a word of the network nothing would be tried again within the test.
        try daemon.write(
            "endpoints.d/home.conf",
            "[Endpoint]\nURL=http://\(Self.address):\(port)\nAllowInsecure=yes\n[Retry]\nBase=1h\nCap=1h\n")
        try daemon.start(through: network.prefix)
    }

    private func submit(_ player: String) throws {
        let result = try daemon.kleos(["submit", "score", "minesweeper", "beginner", "9000", "--player", player])
        try #require(result.isSuccess, "\(result.errors)")
    }

    private func wait(for words: String, in command: [String]) throws {
        var text = ""
        let isSaid = try Patience.until {
            text = try daemon.kleos(command).output
            return text.contains(words)
        }
        let log = try daemon.log
        try #require(isSaid, "\(text)\n\(log)")
    }

    @Test("What waited for the network goes out when it comes, however long the next try was away")
    func comesBack() throws {
        defer { service.send(SIGKILL) }
        try submit("ada")
        try wait(for: "is failing", in: ["status"])
        #expect(try daemon.kleos(["list", "--state", "delivered"]).output.contains("0 deliveries"))
        try network.change("ip addr add \(Self.address)/24 dev d0")
        try wait(for: "ada", in: ["list", "--state", "delivered"])
        #expect(try daemon.log.contains("the network changed"))

        // It goes and comes again, with a connection of before that leads nowhere.
        try network.change("ip addr del \(Self.address)/24 dev d0")
        try submit("bob")
        try wait(for: "is failing", in: ["status"])
        try network.change("ip addr add \(Self.address)/24 dev d0")
        try wait(for: "bob", in: ["list", "--state", "delivered"])
    }
}
