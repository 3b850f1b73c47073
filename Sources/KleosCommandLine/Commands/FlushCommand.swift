import KleosWire

/// `kleos flush`.
enum FlushCommand {
    static let specification = CommandSpecification(
        ["flush"], "Try what waits for a later attempt now",
        details: ["A service that asked to be left alone for a while is still left alone."],
        arguments: [ArgumentSpecification("ENDPOINT", "The endpoint's name; all by default.", isOptional: true)],
        examples: [CommandExample("kleos flush", "The network is back, and nobody wants to wait.")],
        run: { invocation, session throws(CommandFailure) in
            let endpoint = invocation.argument(0)
            let result = try session.request(.flush, EndpointParameters(endpoint: endpoint).parameters)
            if session.isJSON {
                session.json(result)
            } else {
                session.line("what waits for \(endpoint.map(Printable.text) ?? "any endpoint") is tried now")
            }
            return .success
        })
}
