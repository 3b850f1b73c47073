import KleosConfig
import KleosSupport
import Testing

@Suite struct RandomTextTests {
    private static let pieces = [
        "[Game]", "[Leaderboard x]", "[", "]", "[Achievement ", "Title", "Title[de]", "=", "\\\n", "\n", "\r\n", " ",
        "\t", "#",
        ";", "Endpoints=home", "Order=ascending", "\"", "'", "\\", "\u{0}", "\u{301}", "\u{FEFF}", "infinity",
        "99999999999999999999",
    ]

    /// Whatever a file holds, it is read or refused with lines that it has.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func anyTextIsReadOrRefused(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try ConfigurationFolder(["endpoints.d/home.conf": "[Endpoint]\nURL=https://a.example\n"])
        for _ in 0..<10 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                if Int.random(in: 0..<12, using: &random) == 0 {
                    bytes.append(UInt8.random(in: 0...255, using: &random))
                } else {
                    bytes += Self.pieces.randomElement(using: &random)?.utf8 ?? "".utf8
                }
            }
            try folder.write("games.d/g.conf", bytes: bytes)
            let lines = bytes.count { $0 == 0x0A } + 1
            do throws(ConfigurationErrors) {
                #expect(try folder.load().games.count == 1)
            } catch {
                #expect(!error.problems.isEmpty)
                #expect(error.problems.allSatisfy { ($0.line ?? 1) >= 1 && ($0.line ?? 1) <= lines }, "\(error)")
            }
        }
    }
}
