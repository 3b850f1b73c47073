import KleosWire

/// `kleos pause`.
enum PauseCommand {
    static let specification = CommandSpecification(
        ["pause"], "Stop sending to an endpoint",
        details: ["Events are accepted and kept meanwhile. The pause outlives a restart of the daemon."],
        arguments: [ArgumentSpecification("ENDPOINT", "The endpoint's name.")],
        options: [OptionSpecification("reason", "TEXT", "Why, for whoever looks at kleos status.")],
        examples: [
            CommandExample("kleos pause home --reason maintenance", "Nothing goes to home until it is resumed.")
        ],
        run: { invocation, session throws(CommandFailure) in
            let endpoint = invocation.arguments[0]
            let parameters = EndpointParameters(endpoint: endpoint, reason: invocation.value("reason"))
            let result = try session.request(.pause, parameters.parameters)
            if session.isJSON { session.json(result) } else { session.line("\(Printable.text(endpoint)) is paused") }
            return .success
        })
}
