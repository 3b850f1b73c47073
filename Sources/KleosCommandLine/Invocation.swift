/// A command line after parsing: which command, with what.
package struct Invocation: Sendable {
    /// Values by option name; an option without a value has an empty list.
    package var options: [String: [String]]
    /// The positional arguments in order.
    package var arguments: [String]

    /// Makes an invocation from its parts.
    package init(options: [String: [String]] = [:], arguments: [String] = []) {
        self.options = options
        self.arguments = arguments
    }

    /// Whether the option was given.
    package func has(_ name: String) -> Bool { options[name] != nil }

    /// The last value given for the option.
    package func value(_ name: String) -> String? { options[name]?.last }

    /// All values given for the option.
    package func values(_ name: String) -> [String] { options[name] ?? [] }

    /// The positional argument at `index`, where there is one.
    package func argument(_ index: Int) -> String? { index < arguments.count ? arguments[index] : nil }

    /// The option's value as a whole number within `range`. Throws a usage failure.
    package func number(_ name: String, in range: ClosedRange<Int64>) throws(CommandFailure) -> Int64? {
        guard let text = value(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .usage("--\(name) needs a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }
}
