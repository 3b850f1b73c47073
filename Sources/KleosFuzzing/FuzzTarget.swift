/// What hostile bytes are fed to. A target's name is that of its folder of inputs.
package enum FuzzTarget: String, Sendable, CaseIterable {
    /// The splitting of a stream into lines, however it is cut.
    case framing
    /// The strict JSON parser and the writer.
    case json
    /// A client's lines: requests, batches, the parameters of every method.
    case requests
    /// The daemon's lines, as the client library and the command line read them.
    case answers
    /// All configuration files.
    case configuration
    /// An endpoint's answer: status, headers, body.
    case verdicts

    /// Feeds `bytes` to the code and checks what must hold for all inputs. Throws `FuzzFailure`.
    package func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        switch self {
        case .framing: try FramingFuzz.run(bytes)
        case .json: try JSONFuzz.run(bytes)
        case .requests: try RequestFuzz.run(bytes)
        case .answers: try AnswerFuzz.run(bytes)
        case .configuration: try ConfigurationFuzz.run(bytes)
        case .verdicts: try VerdictFuzz.run(bytes)
        }
    }
}

/// Something that must hold for all inputs, and did not for one.
package struct FuzzFailure: Error, CustomStringConvertible {
    package let description: String
}

/// Throws `FuzzFailure` with `message` where `condition` does not hold.
func require(
    _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String
) throws(FuzzFailure) {
    if !condition() { throw FuzzFailure(description: message()) }
}

/// Feeds one input to the target named `target`, and traps with a sentence where something does not hold.
///
/// The only thing that the fuzzer's own package can see.
public func fuzz(target name: String, _ bytes: UnsafeRawBufferPointer) {
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        // Whoever starts the fuzzer named it, and without a target there is nothing to run.
        fatalError("KLEOS_FUZZ_TARGET must be one of \(names), and not \"\(name)\"")
    }
    do throws(FuzzFailure) {
        try target.run(Array(bytes))
    } catch {
        // A trap is how libFuzzer learns of a finding; it then saves the input.
        fatalError("\(name): \(error)")
    }
}
