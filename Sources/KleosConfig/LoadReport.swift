/// Gathers what one load finds; lives for that load only.
final class LoadReport {
    var problems: [ConfigurationProblem] = []
    var warnings: [ConfigurationProblem] = []
    var settings: [EffectiveSetting] = []

    /// Notes something that makes the load fail.
    func problem(_ file: String, _ line: Int?, _ message: String) {
        problems.append(ConfigurationProblem(file: file, line: line, message: message))
    }
}
