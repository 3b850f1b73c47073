import KleosWire

/// `kleos release`.
enum ReleaseCommand {
    static let specification = CommandSpecification(
        ["release"], "Let held deliveries go on",
        details: ["They go on in the order of their streams."],
        arguments: OperateSupport.arguments, options: OperateSupport.options,
        examples: [CommandExample("kleos release --game minesweeper", "Everything that was held of this game.")],
        run: { invocation, session throws(CommandFailure) in
            let selection = try OperateSupport.selection(invocation, session)
            return try OperateSupport.run(.release, selection, done: "released", session)
        })
}
