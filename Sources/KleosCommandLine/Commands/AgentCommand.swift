import KleosNotify
import KleosSupport

/// `kleos agent`.
enum AgentCommand {
    static let specification = CommandSpecification(
        ["agent"], "Show notices on the desktop",
        details: [
            "Runs until it is stopped, and belongs in the user's session: it follows the user's own daemon and the "
                + "system's, and shows what they have to tell with the desktop's notification service."
        ],
        options: [OptionSpecification("verbose", nil, "Report what is going on, on standard error.")],
        examples: [CommandExample("systemctl --user enable --now kleos-agent", "Start it with every session.")],
        run: { invocation, session throws(CommandFailure) in
            DesktopAgent(
                daemons: session.sockets.daemonSockets(), locale: session.locale,
                stateFolder: session.terminal.environment("XDG_RUNTIME_DIR").map { "\($0)/kleos-agent" },
                log: Log(threshold: invocation.has("verbose") ? .debug : .notice)
            ).run()
        })
}
