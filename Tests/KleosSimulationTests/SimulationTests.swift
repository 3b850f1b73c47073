import KleosSimulation
import KleosSupport
import KleosTestSupport
import Testing

struct SimulationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func simulate(_ arguments: [String], filesIn files: String? = nil) throws -> ChildProcess.Result {
        try ChildProcess(
            BuiltPrograms.path("kleos-simulate"), arguments, environment: files.map { ["TMPDIR": $0] } ?? [:],
            errorFile: folder.path("errors")
        ).finish()
    }

    @Test func weeksFullOfFaultsLoseNothing() throws {
        let disk = SimulatedDisk(seed: 0)
        for seed in 1...UInt64(TestStage.size("WEEKS", usual: 10, long: 20)) {
            let report = try Simulation(seed: seed, disk: disk).run()
            #expect(report.violations == [], "replay it with: script/simulate --seed \(seed)")
            #expect(report.acknowledged > 0)
        }
    }

    /// Thousands of them would else fill the disk, or the memory that stands in for it.
    @Test func aWeekThatIsOverLeavesNoFiles() throws {
        let files = try TemporaryFolder()
        let run = try simulate(["--seeds", "3"], filesIn: files.path)
        #expect(run.ending == .exited(0))
        #expect(try Folder.names(in: files.path) == [])
    }

    @Test func seedsWithoutRoomForTheirFilesFailTheRun() throws {
        let run = try simulate(["--seeds", "1"], filesIn: folder.path("missing"))
        #expect(run.ending == .exited(1))
        #expect(run.output.contains("seeds that could not be run: 1\n"))
        #expect(run.errors.contains("missing"))
    }

    /// In the program, since dictionaries have the same order in two runs only if a process begins so.
    @Test func aSeedGivesTheSameWeekAgain() throws {
        let weeks = try [simulate(["--seed", "7"]), simulate(["--seed", "7"])]
        #expect(weeks[0].ending == .exited(0))
        #expect(weeks[0].output.contains("digest "))
        #expect(weeks[0].output == weeks[1].output)
    }

    @Test(arguments: [["--seed"], ["--hours", "0"], ["--weeks", "3"], ["--seeds", "many"]])
    func wrongArgumentsAreToldApart(_ arguments: [String]) throws {
        let run = try simulate(arguments)
        #expect(run.ending == .exited(64))
        #expect(run.errors.contains(arguments[0]))
    }
}
