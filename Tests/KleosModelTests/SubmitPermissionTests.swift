import KleosModel
import Testing

@Suite struct SubmitPermissionTests {
    @Test(
        "S-14: AllowUnits= names units, and patterns of them",
        arguments: [
            ("game.service", "game.service", true), ("game.service", "game.servic", false),
            ("app-*.scope", "app-steam-1.scope", true), ("app-*.scope", "app-.scope", true),
            ("app-*.scope", "app-steam-1.service", false), ("*", "anything.service", true),
            ("a*b*c.scope", "a-b-b-c.scope", true), ("a*b*c.scope", "a-c.scope", false),
            ("aa*aa", "aaa", false), ("*.scope", ".scope", true), ("a**b", "ab", true),
        ])
    func patterns(pattern: String, unit: String, isPermitted: Bool) {
        let permission = SubmitPermission(uids: [1_000], units: ["other.service", pattern])
        #expect(permission.allows(unit: unit, uid: 1_000) == isPermitted)
    }

    @Test("a process of no known unit is refused where units are named, root excepted")
    func unknownUnits() {
        let permission = SubmitPermission(uids: [1_000], units: ["*"])
        #expect(!permission.allows(unit: nil, uid: 1_000))
        #expect(permission.allows(unit: nil, uid: 0))
        #expect(SubmitPermission(uids: [1_000]).allows(unit: nil, uid: 1_000))
    }
}
