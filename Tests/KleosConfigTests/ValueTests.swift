import KleosConfig
import KleosModel
import Testing

@Suite struct ValueTests {
    /// Key and value of [Storage] or [Notices], and the message or what was read.
    @Test(arguments: [
        ("60", 60_000 as Int64?), ("1min", 60_000), ("90m", 5_400_000), ("1h 30min", 5_400_000),
        ("1h30min", 5_400_000), ("30d", 2_592_000_000), ("2w", 1_209_600_000), ("infinity", nil),
    ])
    func durations(text: String, expected: Int64?) throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Storage]\nKeepDelivered=\(text)\n"])
        #expect(try folder.load().daemon.storage.deliveredRetentionMilliseconds == expected)
    }

    @Test(arguments: [
        ("1%", 10_485 as Int64?), ("50%", 524_288), ("100%", .max), ("0%", nil), ("101%", nil), ("50", nil), ("%", nil),
        ("-5%", nil), ("5.5%", nil), ("99999999999999999999%", nil),
    ])
    func percentages(text: String, bytes: Int64?) throws {
        let folder = try ConfigurationFolder([
            "kleosd.conf": "[Storage]\nMaximumSize=1M\nMaximumSharePerUser=\(text)\n"
        ])
        if let bytes {
            #expect(try folder.load().daemon.storage.maximumBytesPerUser == bytes)
        } else {
            let start = "kleosd.conf:3: MaximumSharePerUser=\(text): expected a percentage from 1% to 100%"
            #expect(folder.problems().hasPrefix(start), "\(folder.problems())")
        }
    }

    @Test(arguments: [
        "", "2s", "d", "30 days 2x", "1.5h", "-1h", "30D", "99999999999999999999d", "9223372036854775807w", "1h,30min",
    ])
    func badDurations(text: String) throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Storage]\nKeepDelivered=\(text)\n"])
        if text.isEmpty {
            #expect(try folder.load().daemon.storage.deliveredRetentionMilliseconds == 2_592_000_000)
        } else {
            let start = "kleosd.conf:2: KeepDelivered=\(text): expected a duration from 1min to "
            #expect(folder.problems().hasPrefix(start), "\(folder.problems())")
            #expect(folder.problems().hasSuffix("such as 500ms, 2s, 1h 30min or 30d, or infinity"))
        }
    }

    @Test(arguments: [("1M", 1 << 20 as Int64), ("1048576", 1 << 20), ("2048K", 2 << 20), ("3G", 3 << 30)])
    func sizes(text: String, expected: Int64) throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Storage]\nMaximumSize=\(text)\n"])
        #expect(try folder.load().daemon.storage.maximumBytes == expected)
    }

    @Test(arguments: ["1", "512MB", "512m", "-1M", "1.5G", "99999999999T", "M"])
    func badSizes(text: String) throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Storage]\nMaximumSize=\(text)\n"])
        #expect(
            folder.problems()
                == "kleosd.conf:2: MaximumSize=\(text): expected a size from 1M to 16T, such as 64K, 512M or 2G")
    }

    @Test(arguments: [("yes", true), ("no", false), ("on", true), ("off", false), ("1", true), ("False", false)])
    func booleans(text: String, expected: Bool) throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Notices]\nDesktop=\(text)\n"])
        #expect(try folder.load().daemon.notices.usesDesktop == expected)
    }

    @Test func badValuesOfOtherKinds() throws {
        let folder = try ConfigurationFolder([
            "kleosd.conf": """
            [Daemon]
            LogLevel=warn
            [Limits]
            MaximumConnections=0
            MaximumUnanswered=+5
            [Notices]
            Desktop=maybe
            Command=notify "unfinished
            CommandTimeout=30s # half a minute
            """
        ])
        #expect(
            folder.problems() == """
                kleosd.conf:2: LogLevel=warn: expected one of error, warning, notice, info or debug
                kleosd.conf:4: MaximumConnections=0: expected a whole number from 1 to 65536
                kleosd.conf:5: MaximumUnanswered=+5: expected a whole number from 1 to 1000000
                kleosd.conf:7: Desktop=maybe: expected yes or no
                kleosd.conf:8: Command=notify "unfinished: a quotation mark is never closed
                kleosd.conf:9: CommandTimeout=30s # half a minute: expected a duration from 1s to 1h, such as 500ms, \
                2s, 1h 30min or 30d; a comment needs a line of its own
                """)
    }

    @Test func wordsKeepWhatIsQuoted() throws {
        let folder = try ConfigurationFolder([
            "kleosd.conf": #"""
            [Notices]
            Command=/usr/bin/show --title "A \"new\" record" '' 'back\slash' plain\ space
            """#
        ])
        #expect(
            try folder.load().daemon.notices.command
                == ["/usr/bin/show", "--title", "A \"new\" record", "", #"back\slash"#, "plain space"])
    }

    @Test func commandNeedsItsWholePath() throws {
        let folder = try ConfigurationFolder(["kleosd.conf": "[Notices]\nCommand=notify-send x\n"])
        #expect(
            folder.problems()
                == "kleosd.conf:2: Command=notify-send x: the program needs its whole path, which starts with /")
    }
}
