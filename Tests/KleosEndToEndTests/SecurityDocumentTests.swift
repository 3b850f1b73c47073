import KleosSupport
import Testing

/// docs/security.md and the tests that show its claims.
@Suite("Security: the document")
struct SecurityDocumentTests {
    /// The names in the first column of the document's tables, in order.
    private func claims() throws -> [String] {
        try SmallFile.readText(at: Scenario.repositoryPath("docs/security.md")).split(separator: "\n")
            .filter { $0.hasPrefix("| S-") }
            .map { String($0.dropFirst(2).prefix { $0 != " " }) }
    }

    /// The names with which display names of tests begin.
    private func tested() throws -> Set<String> {
        var names: Set<String> = []
        func look(_ folder: String) throws {
            for name in try Folder.names(in: folder) {
                let path = "\(folder)/\(name)"
                if Folder.exists(path) { try look(path) }
                guard name.hasSuffix("Tests.swift"), name != "SecurityDocumentTests.swift" else { continue }
                for piece in try SmallFile.readText(at: path).split(separator: "\"S-").dropFirst() {
                    let digits = piece.prefix { $0.isNumber }
                    if piece.dropFirst(digits.count).hasPrefix(": ") { names.insert("S-\(digits)") }
                }
            }
        }
        try look(Scenario.repositoryPath("Tests"))
        return names
    }

    @Test("Every claim has a test with its name, and every such test a claim")
    func claimsAreTested() throws {
        let claims = try claims()
        #expect(claims.count > 40)
        #expect(Set(claims).count == claims.count, "each name stands once")
        let tested = try tested()
        #expect(Set(claims).subtracting(tested) == [])
        #expect(tested.subtracting(claims) == [])
    }
}
