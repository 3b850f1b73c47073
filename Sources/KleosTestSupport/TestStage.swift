import KleosSupport

/// The long parts of the tests: how much they do, and the figures that they report.
package enum TestStage {
    /// How much a long test does: `long` where KLEOS_TEST_LONG is set, as `script/test --long` does; the number in
    /// KLEOS_TEST_`name` where that is set; else `usual`.
    package static func size(_ name: String, usual: Int, long: Int) -> Int {
        if let text = Environment["KLEOS_TEST_\(name)"], let size = Int(text), size > 0 { return size }
        return Environment["KLEOS_TEST_LONG"] == nil ? usual : long
    }

    /// Whether the memory of a process says what it uses; under AddressSanitizer, which keeps what was freed, it does
    /// not.
    package static var isMemoryTelling: Bool { Environment["KLEOS_TEST_SANITIZER"] != "address" }

    /// The names of the variables by which `script/sanitize` reaches the programs that tests start; empty outside it.
    ///
    /// For tools that start a program with an environment of their own.
    package static var sanitizerVariables: [String] {
        ["LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS", "SWIFT_BACKTRACE"].filter { Environment[$0] != nil }
    }

    /// Prints what a stage did, as a line that stands out among those of the tests.
    package static func report(_ stage: String, _ figures: String) {
        StandardStream.output.write("== \(stage): \(figures)\n")
    }
}
