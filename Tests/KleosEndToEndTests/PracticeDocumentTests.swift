import KleosJSON
import KleosSupport
import KleosTestSupport
import Testing

/// What `docs/practice.md` prints works as it is printed.
@Suite("Examples of docs/practice.md")
struct PracticeDocumentTests {
    /// The text of the fenced block that begins with the words `header`.
    private static func block(_ header: String) throws -> String {
        let text = try SmallFile.readText(at: Scenario.repositoryPath("docs/practice.md"))
        let parts = text.split(separator: "```\(header)\n", maxSplits: 1)
        try #require(parts.count == 2, "docs/practice.md has no block \(header)")
        return try #require(parts[1].split(separator: "\n```", maxSplits: 1).first.map { $0 + "\n" }).description
    }

    @Test("The test for CI passes, and the faults were met")
    func example() throws {
        let folder = try TemporaryFolder(prefix: "practicing")
        let files = [
            "mygame.conf": "ini game", "expect.json": "json expect", "faults.json": "json faults",
            "ci.sh": "sh practice",
        ]
        for (name, header) in files {
            try SmallFile.replace(folder.path(name), with: Array(try Self.block(header).utf8))
        }
        let result = try ChildProcess(
            "/bin/sh", ["-c", "cd \(folder.path) && sh -e ci.sh"],
            environment: ["PATH": "\(BuiltPrograms.folder):/usr/bin:/bin"], errorFile: folder.path("errors")
        ).finish()
        #expect(result.isSuccess, "\(result.errors)")
        let happened = try SmallFile.readText(at: folder.path("happened.ndjson")).split(separator: "\n")
            .map { try JSONParser.parse(Array($0.utf8)) }
        let requests = happened.filter { $0["record"] == "request" }
        #expect(requests.prefix(2).allSatisfy { $0["status"] == 503 })
        #expect(requests.contains { $0["status"] == .null && $0["tookEffect"] == true })
        #expect(happened.last?["exitCode"] == 0)
    }
}
