import KleosBench
import Testing

@Suite struct StatisticsTests {
    @Test func theMedianIsTheMiddleWhateverTheOrder() {
        #expect(Statistics.median([9, 1, 5]) == 5)
        #expect(Statistics.median([9, 1, 5, 7]) == 6)
        #expect(Statistics.median([]) == nil)
    }

    @Test func aPercentileIsAValueThatSoManyDoNotExceed() {
        let values = (1...200).map(Double.init).reversed()
        #expect(Statistics.percentile(0.5, of: Array(values)) == 100)
        #expect(Statistics.percentile(0.99, of: Array(values)) == 198)
        #expect(Statistics.percentile(1, of: Array(values)) == 200)
        #expect(Statistics.percentile(0.99, of: [3]) == 3)
        #expect(Statistics.percentile(0.5, of: []) == nil)
    }

    @Test func numbersAreWrittenForPeople() {
        #expect(Decimal.text(1_234_567.4, places: 0) == "1,234,567")
        #expect(Decimal.text(0.456, places: 2) == "0.46")
        #expect(Decimal.text(1.999, places: 2) == "2.00")
        #expect(Decimal.text(12.05, places: 3) == "12.050")
        #expect(Decimal.text(-1.5, places: 1) == "-1.5")
        #expect(Decimal.text(.infinity, places: 1) == "-")
    }
}
