import Glibc
import KleosConfig
import KleosJSON
import KleosServer
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// `forget` looks into the spool: what waits there and what was rejected.
@Suite("Spool: erasing a player")
struct SpoolEraseTests {
    private static func score(_ value: Int, id: String, player: String, game: String = "minesweeper") -> String {
        "{\"kind\":\"score\",\"game\":\"\(game)\",\"leaderboard\":\"every\",\"value\":\(value),\"id\":\"\(id)\","
            + "\"player\":\"\(player)\"}\n"
    }

    private func forget(_ spool: SpoolHarness, _ player: String, game: String? = nil) throws -> ForgetAnswer {
        let parameters = ForgetParameters(player: player, game: game).parameters
        let answer = try spool.server.control().ask("forget", JSONValue.object(parameters).serialized)
        return ForgetAnswer(json: try #require(answer.result, "\(answer)"))
    }

    /// All that lies in the spool and its folders, in one text.
    private func everything(_ spool: SpoolHarness) throws -> String {
        var text = ""
        for folder in ["", "taking", "rejected"] {
            for name in try spool.names(folder) {
                text += "\(name): \(try SmallFile.readText(at: "\(spool.path)/\(folder)/\(name)"))\n"
            }
        }
        return text
    }

    /// A spool whose user has used up the minute: what is put there now waits.
    private func pausedSpool() throws -> SpoolHarness {
        var limits = ConnectionLimits()
        limits.eventsPerMinute = 1
        let spool = try SpoolHarness(limits: limits)
        spool.start()
        try spool.put("first.json", Self.score(1, id: "first", player: "bob"))
        try spool.wait { $0.takenIn == 1 }
        return spool
    }

    @Test("S-78: what waits goes, taken or not, with its count; other players' events are taken in as before")
    func waiting() throws {
        let spool = try pausedSpool()
        for number in 0..<150 {
            let player = number % 3 == 0 ? "ada" : "bob"
            try spool.put("\(1_000 + number).json", Self.score(number, id: "\(number)", player: player))
        }
        try spool.wait { $0.waiting == 150 }
        #expect(try !spool.names("taking").isEmpty, "some are taken already")
        let answer = try forget(spool, "ada")
        #expect(answer.spooled == 50 && answer.events == 50)
        #expect(answer.unclear == [] && answer.spoolTrouble == nil)
        #expect(try !everything(spool).contains("ada"))
        #expect(try spool.names().count + spool.names("taking").count == 100)
        let status = try spool.server.control().ask("status").result
        #expect(status?["forgotten"] == 50)
        #expect(try forget(spool, "ada").events == 0)
        spool.server.configure(limits: ConnectionLimits())
        spool.restart()
        try spool.wait { $0.takenIn == 100 && $0.waiting == 0 }
        #expect(try spool.ids().count == 101)
    }

    @Test("S-78: what was rejected goes with its note; of files with several events only the player's go")
    func rejected() throws {
        let spool = try SpoolHarness()
        let (own, other) = (Self.score(1, id: "a", player: "ada"), Self.score(2, id: "b", player: "bob"))
        try spool.put("1-game.json", Self.score(1, id: "x", player: "ada", game: "nogame"))
        try spool.put("2-game.json", Self.score(1, id: "y", player: "bob", game: "nogame"))
        try spool.put("3-lines.json", other + own + other)
        try spool.put("4-list.json", "[\(own),\(other)]")
        try spool.put("5-broken.json", "{\"player\":\"ada\",")
        try spool.put("6-broken.json", "{\"player\":\"bob\",")
        spool.start()
        try spool.wait { $0.rejected == 6 }
        let answer = try forget(spool, "ada")
        #expect(answer.spooled == 3)
        #expect(answer.unclear.count == 1)
        #expect(answer.unclear.first?.hasPrefix("\(spool.path)/rejected/5-broken.json~") == true)
        let left = try spool.names("rejected")
        #expect(left.count == 10 && !left.contains { $0.hasPrefix("1-game") })
        #expect(!left.contains { $0.hasPrefix(".") })
        let texts = try left.filter { !$0.hasSuffix(".error") }.map { name in
            try SmallFile.readText(at: "\(spool.path)/rejected/\(name)")
        }
        #expect(texts.count == 5)
        #expect(texts[1] == other + other)
        #expect(texts[2].contains("bob") && !texts[2].contains("ada"))
        try spool.wait { $0.rejected == 5 }
        // As the next run of the daemon finds it.
        spool.restart()
        try spool.put("7-good.json", Self.score(1, id: "good", player: "bob"))
        let status = try #require(try spool.wait { $0.takenIn == 1 })
        #expect(status.rejected == 5 && !status.rejections.contains { $0.file == "1-game.json" })
    }

    @Test("Of one game only, where one is named, and of the game's own player where a file names nobody")
    func ofOneGame() throws {
        let spool = try pausedSpool()
        try spool.put("2.json", Self.score(2, id: "2", player: "ada", game: "private"))
        try spool.put("3.json", SpoolHarness.score(3, id: "3"))
        try spool.wait { $0.waiting + $0.rejected == 2 }
        #expect(try forget(spool, "ada", game: "homeless").spooled == 0)
        // The game minesweeper has Player=ada.
        #expect(try forget(spool, "ada", game: "minesweeper").spooled == 1)
        #expect(try everything(spool).contains("private"))
        #expect(try forget(spool, "ada").spooled == 1)
    }

    @Test("What is on its way into the queue is waited for, and erased there")
    func underway() throws {
        let spool = try SpoolHarness()
        spool.start()
        let count = 400
        for number in 0..<count { try spool.put("\(number).json", Self.score(number, id: "\(number)", player: "ada")) }
        try spool.put("bob.json", Self.score(1, id: "bob", player: "bob"))
        let answer = try forget(spool, "ada")
        // Each of them either was in the queue by then, or was not: none is between.
        #expect(answer.events == count)
        try spool.wait { $0.waiting == 0 }
        #expect(try spool.ids() == ["bob"])
    }

    @Test("A link in the spool is not followed, and what it leads to stays")
    func links() throws {
        let spool = try pausedSpool()
        let elsewhere = spool.server.store.folder.path("elsewhere")
        try SmallFile.replace(elsewhere, with: Array(Self.score(1, id: "1", player: "ada").utf8))
        symlink(elsewhere, "\(spool.path)/link.json")
        #expect(try forget(spool, "ada").events == 0)
        #expect(try SmallFile.readText(at: elsewhere).contains("ada"))
    }

    @Test("What is erased is overwritten, so far as the daemon may")
    func overwritten() throws {
        let spool = try pausedSpool()
        // Open since before: what the blocks hold can be seen after the name is gone.
        var files: [FileDescriptor] = []
        for name in ["waits.json", "bad.json"] {
            let text = Self.score(1, id: name, player: "ada", game: name == "bad.json" ? "nogame" : "minesweeper")
            try SmallFile.replace("\(spool.path)/.\(name)", with: Array(text.utf8), mode: 0o640)
            files.append(try FileDescriptor.open("\(spool.path)/.\(name)", O_RDONLY))
            try #require(rename("\(spool.path)/.\(name)", "\(spool.path)/\(name)") == 0)
        }
        try spool.wait { $0.waiting + $0.rejected == 2 }
        #expect(try forget(spool, "ada").spooled == 2)
        for file in files {
            let bytes = try SmallFile.read(from: file, path: "erased", limitBytes: 65_536)
            #expect(!bytes.isEmpty && bytes.allSatisfy { $0 == 0 })
        }
    }

    @Test("Where the spool cannot be used, the answer says that it was not looked into")
    func unusable() throws {
        let spool = try SpoolHarness()
        rmdir(spool.path)
        try SmallFile.replace(spool.path, with: [])
        spool.start()
        #expect(try forget(spool, "ada").spoolTrouble?.contains(spool.path) == true)
        spool.stop()
        #expect(try forget(spool, "ada").spoolTrouble != nil)
    }
}
