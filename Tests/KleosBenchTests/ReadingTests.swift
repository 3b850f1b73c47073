import KleosBench
import KleosSupport
import Testing

/// What the run reads of others: the kernel, strace, its own command line.
@Suite struct ReadingTests {
    @Test func theNameOfAProgramMayHoldAnything() {
        let fields = "S 1 2 3 0 -1 4194560 1 2 3 4 70 30 0 0 20 0 1 0 5"
        #expect(ProcessUsage.ticks(inStat: "12 (a) b ) \(fields)") == 100)
        #expect(ProcessUsage.ticks(inStat: "12 (a) S 1") == nil)
    }

    @Test func valuesAreFoundByTheWholeStartOfTheLine() {
        let text = "cancelled_write_bytes: 7\nwrite_bytes: 4096\nRssAnon:\t    1234 kB\n"
        #expect(ProcessUsage.value("write_bytes:", in: text) == 4_096)
        #expect(ProcessUsage.value("RssAnon:", in: text) == 1_234)
        #expect(ProcessUsage.value("read_bytes:", in: text) == nil)
    }

    @Test func aSyncInTwoPartsCountsOnce() {
        let trace = """
            101 fdatasync(9 <unfinished ...>
            102 fsync(3)                          = 0
            101 <... fdatasync resumed>)          = 0
            101 fdatasync(9)                      = 0
            101 +++ exited with 0 +++

            """
        #expect(SyncTrace.count(in: trace) == 3)
    }

    @Test func optionsAreReadInAnyOrder() throws {
        let options = try BenchOptions(["--backlog", "--json", "--rounds", "2", "--peers"])
        #expect(options.backlog == BenchOptions.defaultBacklog)
        #expect(options.form == .json)
        #expect(options.rounds == 2)
        #expect(options.withPeers)
        #expect(try BenchOptions(["--backlog", "3000000"]).backlog == 3_000_000)
        #expect(try BenchOptions([]) == BenchOptions())
    }

    @Test(arguments: [["--rounds"], ["--rounds", "none"], ["--seconds", "-1"], ["--backlog", "0"], ["--unknown"]])
    func whatIsNoOptionIsRefused(arguments: [String]) {
        #expect(throws: BenchFailure.self) { try BenchOptions(arguments) }
    }

    @Test func idsFollowTheClockOrNothing() {
        func ids(_ order: EventLines.Order) -> [String] {
            var events = EventLines(game: "bench", order: order)
            return (0..<200).map { _ in
                let line = String(decoding: events.next(), as: UTF8.self)
                return String(line.split(separator: "\"id\":\"").last?.prefix(36) ?? "")
            }
        }
        let ordered = ids(.time)
        let random = ids(.random)
        #expect(Set(ordered).count == 200 && Set(random).count == 200)
        #expect(ordered.map { $0.prefix(13) } == ordered.map { $0.prefix(13) }.sorted())
        #expect(random.map { $0.prefix(13) } != random.map { $0.prefix(13) }.sorted())
        #expect(ordered.allSatisfy { $0.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12] })
    }
}
