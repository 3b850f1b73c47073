import KleosWire

/// `kleos resume`.
enum ResumeCommand {
    static let specification = CommandSpecification(
        ["resume"], "Send to a paused endpoint again",
        arguments: [ArgumentSpecification("ENDPOINT", "The endpoint's name.")],
        examples: [CommandExample("kleos resume home", "What waited for home goes out.")],
        run: { invocation, session throws(CommandFailure) in
            let endpoint = invocation.arguments[0]
            let result = try session.request(.resume, EndpointParameters(endpoint: endpoint).parameters)
            if session.isJSON { session.json(result) } else { session.line("\(Printable.text(endpoint)) is resumed") }
            return .success
        })
}
