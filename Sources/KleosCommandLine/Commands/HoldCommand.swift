import KleosWire

/// `kleos hold`.
enum HoldCommand {
    static let specification = CommandSpecification(
        ["hold"], "Keep deliveries from being sent",
        details: ["What is in flight is held when it comes back. kleos release lets it go on."],
        arguments: OperateSupport.arguments, options: OperateSupport.options,
        examples: [CommandExample("kleos hold --game minesweeper", "Nothing of this game goes out for now.")],
        run: { invocation, session throws(CommandFailure) in
            let selection = try OperateSupport.selection(invocation, session)
            return try OperateSupport.run(.hold, selection, done: "held", session)
        })
}
