import KleosBench
import KleosJSON
import Testing

@Suite struct ReportTests {
    private static var report: Report {
        var ledger = Ledger()
        for rate in [10_000.0, 12_000, 11_000] { ledger.add(Subject.sync, .perSecond, rate) }
        for ratio in [0.5, 0.4, 0.47] { ledger.add(Subject.enqueue(Shape(clients: 1, window: 1)), .ratio, ratio) }
        ledger.add(Subject.enqueue(Shape(clients: 1, window: 1)), .perSecond, 5_000)
        ledger.add(Subject.start, .milliseconds, 12)
        ledger.skip("redis-server: it is not installed")
        ledger.skip("redis-server: it is not installed")
        return Report(ledger, machine: "a machine")
    }

    @Test func everyLineOfJSONIsAnObject() throws {
        let lines = try Self.report.text(.json).split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
        #expect(lines.allSatisfy { $0.objectValue != nil })
        let sync = lines.first { $0["measurement"]?.stringValue == Subject.sync }
        #expect(sync?["perSecond"]?.int64Value == 11_000)
        #expect(sync?["perSecondValues"]?.arrayValue?.compactMap(\.int64Value) == [10_000, 12_000, 11_000])
        let aim = lines.first { $0["aim"]?.stringValue == "enqueue 1x1, in D" }
        #expect(aim?["judgement"]?.stringValue == "met")
        #expect(lines.count { $0["skipped"] != nil } == 1)
    }

    @Test func everyRowOfMarkdownHasACellForEachHeading() {
        var cells: Int?
        for line in Self.report.text(.markdown).split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                cells = nil
                continue
            }
            let count = line.count { $0 == "|" }
            #expect(count == cells ?? count, "\(line)")
            cells = count
        }
    }

    @Test func peopleReadWhatIsMetAndWhatIsNot() {
        let text = Self.report.text(.text)
        #expect(text.contains("11,000"))
        #expect(text.split(separator: "\n").contains { $0.hasPrefix("enqueue 1x1, in D") && $0.contains(" met ") })
        #expect(text.split(separator: "\n").contains { $0.hasPrefix("enqueue 16x1") && $0.contains("not measured") })
        #expect(!text.contains("unsteady"))
    }

    @Test func anUnsteadyDiskIsSaid() {
        var ledger = Ledger()
        for rate in [1_000.0, 2_001] { ledger.add(Subject.sync, .perSecond, rate) }
        ledger.add(Subject.enqueue(Shape(clients: 1, window: 1)), .ratio, 0.5)
        let text = Report(ledger, machine: "").text(.text)
        #expect(text.contains("The disk was unsteady: D went from 1,000 to 2,001"))
        #expect(text.contains("met (disk unsteady)"))
    }
}
