import Glibc
import KleosConfig
import KleosJSON
import KleosServer
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// What is left in the spool is taken in once, and what is bad is moved aside.
@Suite("Spool: the intake")
struct SpoolIntakeTests {
    @Test("Files that were there before the start and files that come later become events, and go")
    func takesIn() throws {
        let spool = try SpoolHarness()
        for number in 0..<300 { try spool.put("\(number).json", SpoolHarness.score(number, id: "early\(number)")) }
        spool.start()
        try spool.wait { $0.takenIn == 300 }
        try spool.put("late.json", SpoolHarness.score(1, id: "late"))
        try spool.wait { $0.takenIn == 301 }
        #expect(try spool.names() == [])
        #expect(try spool.names("taking") == [])
        #expect(try spool.ids().count == 301)
    }

    @Test("A second file with the same event is settled in silence; the same id for another event is rejected")
    func duplicates() throws {
        let spool = try SpoolHarness()
        spool.start()
        try spool.put("a.json", SpoolHarness.score(5, id: "one"))
        try spool.wait { $0.takenIn == 1 }
        try spool.put("a.json", SpoolHarness.score(5, id: "one"))
        try spool.wait { $0.takenIn == 2 }
        try spool.put("b.json", SpoolHarness.score(6, id: "one"))
        let status = try #require(try spool.wait { $0.rejected == 1 })
        #expect(status.rejections.map(\.reason) == ["id-conflict"])
        #expect(try spool.ids() == ["one"])
    }

    @Test("Each kind of bad file is moved aside with the error beside it, over restarts, and keeps nothing else out")
    func rejects() throws {
        let spool = try SpoolHarness()
        try spool.put("1-text.json", "no JSON")
        try spool.put("2-game.json", SpoolHarness.score(1, id: "a", game: "nogame"))
        try spool.put(
            "3-id.json", "{\"kind\":\"score\",\"game\":\"minesweeper\",\"leaderboard\":\"every\",\"value\":1}")
        try spool.put("4-large.json", String(repeating: " ", count: SpoolFile.maximumBytes + 1))
        symlink("/etc/passwd", "\(spool.path)/5-link")
        mkfifo("\(spool.path)/6-pipe", 0o600)
        try spool.put(".other", "x")
        link("\(spool.path)/.other", "\(spool.path)/7-hard")
        mkdir("\(spool.path)/8-folder", 0o700)
        try spool.put("9-good.json", SpoolHarness.score(1, id: "good"))
        spool.start()
        let status = try #require(try spool.wait { $0.rejected == 7 && $0.takenIn == 1 })
        let reasons = Dictionary(status.rejections.map { ($0.file, $0.reason) }) { first, _ in first }
        #expect(
            reasons == [
                "1-text.json": "parse-error", "2-game.json": "unknown-game", "3-id.json": "id-required",
                "4-large.json": "too-large", "5-link": "invalid-request", "6-pipe": "invalid-request",
                "7-hard": "invalid-request",
            ])
        #expect(status.rejections.allSatisfy { $0.uid == getuid() && !$0.message.isEmpty })
        #expect(try spool.names() == [".other"])
        let aside = try spool.names("rejected")
        let game = try #require(aside.first { $0.hasPrefix("2-game") })
        let path = "\(spool.path)/rejected/\(game)"
        #expect(try SmallFile.readText(at: path) == SpoolHarness.score(1, id: "a", game: "nogame"))
        #expect(try SmallFile.readText(at: "\(path).error").contains("\"reason\":\"unknown-game\""))
        // Nothing that is no event is kept, and what a link leads to is as it was.
        #expect(!aside.contains { $0.hasPrefix("5-link") && !$0.hasSuffix(".error") })
        #expect(access("/etc/passwd", R_OK) == 0)
        spool.restart()
        let again = try #require(try spool.wait { $0.takenIn == 0 })
        #expect(Set(again.rejections) == Set(status.rejections))
    }

    @Test("What comes while the daemon runs is judged as well: links, pipes, second names")
    func irregularWhileRunning() throws {
        let spool = try SpoolHarness()
        spool.start()
        try spool.put("first.json", SpoolHarness.score(1, id: "first"))
        try spool.wait { $0.takenIn == 1 }
        symlink("/etc/passwd", "\(spool.path)/link")
        mkfifo("\(spool.path)/pipe", 0o600)
        try spool.wait { $0.rejected == 2 }
        try spool.put(".other", "x")
        link("\(spool.path)/.other", "\(spool.path)/hard")
        try spool.wait { $0.rejected == 3 }
        #expect(try spool.names() == [".other"])
    }

    @Test("A file that is being written is left alone until it has its name")
    func drafts() throws {
        let spool = try SpoolHarness()
        try spool.put(".draft", "half an ev")
        try spool.put("editor.json.new", "half an ev")
        spool.start()
        try spool.put("whole.json", SpoolHarness.score(1, id: "whole"))
        let status = try #require(try spool.wait { $0.takenIn == 1 })
        #expect(status.rejected == 0)
        #expect(try spool.names() == [".draft", "editor.json.new"])
        try #require(rename("\(spool.path)/editor.json.new", "\(spool.path)/editor.json") == 0)
        try spool.wait { $0.rejected == 1 }
    }

    @Test("What an earlier run took and did not finish is taken up, and what it did finish is a duplicate")
    func leftovers() throws {
        let spool = try SpoolHarness()
        spool.start()
        try spool.put("a.json", SpoolHarness.score(1, id: "recorded"))
        try spool.wait { $0.takenIn == 1 }
        spool.stop()
        // The daemon ended between the COMMIT and the removal of one, and after taking the other.
        try spool.put("a.json", SpoolHarness.score(1, id: "recorded"))
        try spool.put("b.json", SpoolHarness.score(2, id: "taken"))
        for name in ["a.json", "b.json"] {
            try #require(rename("\(spool.path)/\(name)", "\(spool.path)/taking/\(name)~1") == 0)
        }
        spool.restart()
        try spool.wait { $0.takenIn == 2 }
        #expect(try spool.ids() == ["recorded", "taken"])
        #expect(try spool.names("taking") == [])
    }

    @Test("Events beyond the rate of a user wait in the spool, with the reason in the status, and are taken in later")
    func rateLimit() throws {
        var limits = ConnectionLimits()
        limits.eventsPerMinute = 3
        let spool = try SpoolHarness(limits: limits)
        for number in 0..<5 { try spool.put("\(number).json", SpoolHarness.score(number, id: "\(number)")) }
        spool.start()
        let status = try #require(try spool.wait { $0.takenIn == 3 && $0.waiting == 2 })
        #expect(status.waitingReason?.contains("events a minute") == true)
        #expect(status.rejected == 0)
        spool.server.store.clock.advance(milliseconds: 60_000)
        try spool.wait { $0.takenIn == 5 && $0.waiting == 0 }
        #expect(try spool.ids() == ["0", "1", "2", "3", "4"])
    }

    @Test("S-74: of rejected files so many of one user are kept, the newest")
    func boundedRejects() throws {
        let spool = try SpoolHarness()
        for number in 0..<130 { try spool.put("\(1_000 + number).json", "bad") }
        spool.start()
        try spool.wait { $0.waiting == 0 && $0.rejected == 100 }
        let kept = try spool.names("rejected")
        #expect(kept.count == 200)
        #expect(kept.contains { $0.hasPrefix("1129.json~") })
        #expect(!kept.contains { $0.hasPrefix("1029.json~") })
    }

    @Test("A spool that cannot be used is told in the status, and the daemon goes on")
    func unusable() throws {
        let spool = try SpoolHarness()
        rmdir(spool.path)
        try SmallFile.replace(spool.path, with: [])
        spool.start()
        let status = try #require(try spool.wait { $0.trouble != nil })
        #expect(status.trouble?.contains(spool.path) == true)
    }

    @Test("S-76: something else in the place of the daemon's own folders is moved out of the way")
    func foreignFolders() throws {
        let spool = try SpoolHarness()
        try Folder.make(spool.server.store.folder.path("elsewhere"))
        symlink(spool.server.store.folder.path("elsewhere"), "\(spool.path)/taking")
        mkdir("\(spool.path)/rejected", 0o777)
        chmod("\(spool.path)/rejected", 0o777)
        spool.start()
        try spool.put("bad.json", "bad")
        try spool.put("good.json", SpoolHarness.score(1, id: "good"))
        try spool.wait { $0.takenIn == 1 && $0.rejected == 1 }
        #expect(try Folder.names(in: spool.server.store.folder.path("elsewhere")) == [])
        #expect(try spool.names("rejected").count == 2)
    }

    @Test(
        "On a full disk events are taken in all the same; what is bad is moved aside, without a note",
        .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
    func fullDisk() throws {
        let disk = try SmallDisk(kibibytes: 256)
        let spool = try SpoolHarness(path: "\(disk.path)/spool")
        spool.start()
        try spool.put("0-good.json", SpoolHarness.score(0, id: "0"))
        try spool.wait { $0.takenIn == 1 }
        spool.stop()
        for number in 1...9 {
            let isGood = number % 3 > 0
            try spool.put("\(number).json", isGood ? SpoolHarness.score(number, id: "\(number)") : "bad")
        }
        try disk.fill()
        spool.restart()
        let status = try #require(try spool.wait { $0.takenIn == 6 && $0.rejected == 3 })
        #expect(status.waiting == 0)
        #expect(status.rejections.map(\.file) == ["9.json", "6.json", "3.json"])
        #expect(status.rejections.allSatisfy { $0.reason == "parse-error" })
        #expect(try spool.ids() == ["0", "1", "2", "4", "5", "7", "8"])
        #expect(try spool.names("rejected").count { !$0.hasSuffix(".error") } == 3)
        // The next run knows the files, and that their notes are missing.
        disk.empty()
        spool.restart()
        let again = try #require(try spool.wait { $0.takenIn == 0 })
        #expect(again.rejected == 3)
        #expect(again.rejections.allSatisfy { $0.uid == getuid() && $0.atMilliseconds > 1_700_000_000_000 })
        #expect(again.rejections.contains { $0.message == "the note that said why was lost" })
    }
}
