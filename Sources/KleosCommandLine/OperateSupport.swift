import KleosClient
import KleosModel
import KleosWire

/// What the commands that operate the queue share.
enum OperateSupport {
    static let arguments = [
        ArgumentSpecification(
            "KEY", "An event's key, or the end of it as kleos list shows it.", isOptional: true, repeats: true)
    ]

    static let options = CommonOptions.criteria + [OptionSpecification("all", nil, "All deliveries.")]

    /// The deliveries that the command line means. Throws where it names none: that would mean everything.
    static func selection(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> OperateParameters {
        let criteria = CommonOptions.criteria(invocation)
        let isEmpty = invocation.arguments.isEmpty && criteria == DeliveryCriteria() && !invocation.has("all")
        guard !isEmpty else {
            throw .usage("name events by their keys, or say which with options", hint: "--all means all of them")
        }
        guard invocation.arguments.count <= OperateParameters.maximumKeys else {
            throw .usage("at most \(OperateParameters.maximumKeys) keys at once")
        }
        if !invocation.arguments.isEmpty {
            var rest = criteria
            rest.endpoint = nil
            guard rest == DeliveryCriteria(), !invocation.has("all") else {
                throw .usage("beside keys only --endpoint says more", hint: "give keys, or the other options")
            }
        }
        return OperateParameters(
            keys: try KeyResolver(session, on: .control).keys(invocation.arguments), criteria: criteria)
    }

    /// Asks the daemon and prints what changed: "2 deliveries will be tried again".
    static func run(
        _ method: Method, _ selection: OperateParameters, done: String, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        let result = try session.request(method, selection.parameters)
        if session.isJSON {
            session.json(result)
            return .success
        }
        let answer = OperateAnswer(json: result)
        session.line("\(Counted.text(answer.changed, "delivery", "deliveries")) \(done)")
        for unchanged in answer.unchanged {
            session.warn("\(unchanged.key) stays as it is: \(Printable.text(unchanged.reason))")
        }
        return answer.changed == 0 && !answer.unchanged.isEmpty ? .data : .success
    }
}
