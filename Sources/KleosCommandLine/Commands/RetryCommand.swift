import KleosWire

/// `kleos retry`.
enum RetryCommand {
    static let specification = CommandSpecification(
        ["retry"], "Try dead deliveries again at once",
        details: ["A delivery that is retried by hand is not bound by its endpoint's age limit."],
        arguments: OperateSupport.arguments, options: OperateSupport.options,
        examples: [CommandExample("kleos retry --state dead --endpoint home", "Everything that home refused.")],
        run: { invocation, session throws(CommandFailure) in
            let selection = try OperateSupport.selection(invocation, session)
            return try OperateSupport.run(.retry, selection, done: "will be tried again", session)
        })
}
