import Testing

struct PlannerSimulationTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func onceTheFaultsAreOverEverythingIsDelivered(_ seed: UInt64) {
        var simulation = PlannerSimulation(seed: seed, count: 60)
        simulation.run(steps: 100_000)
        #expect(simulation.unsettled == 0)
        #expect(simulation.delivered == 60)
        #expect(simulation.mostInFlight <= simulation.limit)
        #expect(simulation.mostIdleWakes <= 1)
        #expect(simulation.wakes <= 4 * simulation.requests + 100)
    }
}
