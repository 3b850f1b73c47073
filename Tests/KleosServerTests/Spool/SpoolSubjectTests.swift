import KleosJSON
import Testing

@testable import KleosServer

/// Which files are a player's, and what of them.
@Suite("Spool: whose a file is")
struct SpoolSubjectTests {
    typealias Verdict = SpoolSubject.Verdict

    private func judge(_ text: String, game: String? = nil, ownGames: Set<String> = []) -> Verdict {
        SpoolSubject(player: "ada", game: game, ownGames: ownGames).judge(Array(text.utf8))
    }

    private static let own = #"{"kind":"score","game":"g","player":"ada","id":"1"}"#
    private static let other = #"{"kind":"score","game":"g","player":"bob","id":"2"}"#

    @Test("One event is the player's by its name, byte by byte, and by the game's own player where it names nobody")
    func one() {
        #expect(judge(Self.own) == Verdict(erased: 1))
        #expect(judge(Self.own + "\n") == Verdict(erased: 1))
        #expect(judge("{\n  \"player\": \"\\u0061da\",\n  \"nonsense\": 7\n}") == Verdict(erased: 1))
        #expect(judge(Self.other).isKept)
        #expect(judge(#"{"player":"Ada","game":"g"}"#).isKept)
        #expect(judge(#"{"player":["ada"],"game":"g"}"#).isKept)
        #expect(judge(#"{"game":"g"}"#).isKept)
        #expect(judge(#"{"game":"g"}"#, ownGames: ["g"]) == Verdict(erased: 1))
        #expect(judge(#"{"game":"g","player":null}"#, ownGames: ["g"]) == Verdict(erased: 1))
        #expect(judge(#"{"game":"h"}"#, ownGames: ["g"]).isKept)
        #expect(judge(#"{"game":"g","player":"bob","metadata":{"player":"ada"}}"#).isKept)
        #expect(judge("").isKept && judge("7").isKept && judge("null").isKept)
    }

    @Test("Of one game only, where one is named")
    func ofOneGame() {
        #expect(judge(Self.own, game: "g") == Verdict(erased: 1))
        #expect(judge(Self.own, game: "h").isKept)
        #expect(judge(#"{"player":"ada"}"#, game: "g").isKept)
        #expect(judge(#"{"game":"g"}"#, game: "g", ownGames: ["g"]) == Verdict(erased: 1))
        #expect(judge(#"{"game":"g"}"#, game: "h", ownGames: ["g", "h"]).isKept)
    }

    @Test("Of a list, and of lines, the others' events stay")
    func several() {
        #expect(judge("[\(Self.own),\(Self.own)]") == Verdict(erased: 2))
        #expect(judge("[\(Self.own),\(Self.other),7]") == Verdict(erased: 1, rest: Array("[\(Self.other),7]\n".utf8)))
        #expect(judge("[\(Self.other)]").isKept)
        #expect(judge("\(Self.own)\n\(Self.own)\n") == Verdict(erased: 2))
        let lines = "\(Self.other)\n\(Self.own)\nhalf an ev\n\(Self.other)\n"
        #expect(
            judge(lines)
                == Verdict(erased: 1, rest: Array("\(Self.other)\nhalf an ev\n\(Self.other)\n".utf8)))
        #expect(judge("\(Self.other)\n\(Self.other)\n").isKept)
    }

    @Test("What is no event is left, and named where the player's name stands in it")
    func unclear() {
        for text in ["player: ada", #"{"player":"ada""#, "ada", #"{"player":"ada","player":"bob"}"#, "(ada)"] {
            let verdict = judge(text)
            #expect(verdict.isUnclear && verdict.erased == 0 && verdict.rest == Array(text.utf8), "\(text)")
        }
        for text in ["player: adam", "canada", "ad a", "_ada", "ada9", "äada"] {
            #expect(judge(text).isKept, "\(text)")
        }
        #expect(
            judge("\(Self.own)\nthis is ada's")
                == Verdict(erased: 1, rest: Array("this is ada's".utf8), isUnclear: true))
        let quoted = SpoolSubject(player: "a\"b", game: nil).judge(Array("{\"player\":\"a\\\"b\"".utf8))
        #expect(quoted.isUnclear)
    }
}
