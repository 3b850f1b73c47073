import KleosJSON
import KleosModel
import KleosWire

/// `kleos salvage`.
enum SalvageCommand {
    static let specification = CommandSpecification(
        ["salvage"], "Bring over what can be read of a queue that was set aside",
        details: [
            "Without a name, lists the queues that the daemon set aside because they were damaged, or replaced by a "
                + "backup. With a name, reads that one, which is not changed, and brings over the events that are not "
                + "in the queue yet: under the same keys, with their times, submitters and states. May be repeated.",
            "Where a second send counts twice, what was in flight is dead as ambiguous, and what waited is held until "
                + "kleos release: a damaged queue cannot prove that it was not sent.",
        ],
        arguments: [
            ArgumentSpecification("NAME", "The name of a set-aside queue; lists them by default.", isOptional: true)
        ],
        examples: [CommandExample("kleos salvage", "Lists what was set aside.")],
        run: { invocation, session throws(CommandFailure) in
            let parameters = SalvageParameters(name: invocation.argument(0)).parameters
            let result = try session.requestShowingProgress(.salvage, parameters, saying: "reading the queue")
            if session.isJSON {
                session.json(result)
                return .success
            }
            guard invocation.argument(0) != nil else {
                let names = result["names"]?.arrayValue?.compactMap(\.stringValue) ?? []
                for name in names { session.line(Printable.text(name)) }
                if names.isEmpty { session.line("no queue was set aside") }
                return .success
            }
            for line in lines(SalvageAnswer(json: result)) { session.line(line) }
            return .success
        })

    private static func lines(_ answer: SalvageAnswer) -> [String] {
        var lines = [
            "\(Counted.text(answer.brought, "event")) brought over, \(answer.known) already there, "
                + "\(answer.lost) unreadable"
        ]
        if answer.unreadablePages + answer.unreadableRows > 0 {
            lines.append(
                "\(Counted.text(answer.unreadablePages, "page")) and \(Counted.text(answer.unreadableRows, "row")) "
                    + "could not be read")
        }
        if answer.aimless > 0 {
            lines.append(
                "\(Counted.text(answer.aimless, "event stays", "events stay")) behind for want of a configured endpoint; "
                    + "configure the game and repeat this")
        }
        return lines
    }
}
