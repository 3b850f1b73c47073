import KleosModel
package import KleosWire

/// Options that several commands share.
package enum CommonOptions {
    /// The options of every command.
    package static let global: [OptionSpecification] = [
        OptionSpecification("socket", "PATH", "Use the daemon at this socket."),
        OptionSpecification("control", "PATH", "Use this control socket for commands that operate the queue."),
        OptionSpecification("private", "DIR", "Use the private daemon whose sockets and files are in this folder."),
        OptionSpecification("json", nil, "Print one JSON object a line, for programs."),
        OptionSpecification("no-color", nil, "Print without colours, as with NO_COLOR set."),
        OptionSpecification("version", nil, "Print the version and exit."),
        OptionSpecification("help", nil, "Print this help and exit."),
    ]

    /// Which deliveries are meant.
    package static let criteria: [OptionSpecification] = [
        OptionSpecification(
            "state", "STATE", "Only deliveries in this state; several may be given.", repeats: true,
            choices: DeliveryState.allCases.map(\.rawValue)),
        OptionSpecification("game", "GAME", "Only this game's."),
        OptionSpecification("player", "PLAYER", "Only this player's."),
        OptionSpecification("endpoint", "ENDPOINT", "Only those to this endpoint."),
        OptionSpecification(
            "kind", "KIND", "Only events of this kind.", choices: SubjectKind.allCases.map(\.rawValue)),
        OptionSpecification("text", "TEXT", "Only events with this text in player, item, id or metadata."),
    ]

    /// Reads the options of `criteria`.
    package static func criteria(_ invocation: Invocation) -> DeliveryCriteria {
        DeliveryCriteria(
            states: invocation.values("state").compactMap(DeliveryState.init), game: invocation.value("game"),
            player: invocation.value("player"), endpoint: invocation.value("endpoint"),
            kind: invocation.value("kind").flatMap(SubjectKind.init), text: invocation.value("text"))
    }
}
