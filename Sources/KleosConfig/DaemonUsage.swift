package import KleosSupport

/// What the command line of `kleosd` says, for its help and its page of the manual.
package enum DaemonUsage {
    package static let usage = ProgramUsage(
        name: "kleosd", summary: "the daemon of kleos, a durable outbox for achievements and scores",
        forms: [ProgramUsage.Row("kleosd [OPTIONS]", "")],
        introduction:
            "Without options it is the system's daemon: configuration in /etc/kleos, queue in /var/lib/kleos, sockets in "
            + "/run/kleos.",
        groups: [ProgramUsage.Group("Options", options)],
        notes: [
            ProgramUsage.Row("Signals", "SIGHUP reads the configuration again; SIGTERM and SIGINT stop.")
        ],
        exitCodes: [
            ProgramUsage.Code(0, "stopped"), ProgramUsage.Code(64, "wrong options"),
            ProgramUsage.Code(69, "another daemon runs"),
            ProgramUsage.Code(74, "the queue cannot be opened or written"),
            ProgramUsage.Code(77, "a folder's owner is wrong"),
            ProgramUsage.Code(78, "the configuration has errors"),
        ])

    private static let options = [
        ProgramUsage.Row(
            "--user",
            "a user's own daemon: configuration in ~/.config/kleos, queue in ~/.local/state/kleos, sockets in "
                + "$XDG_RUNTIME_DIR/kleos and in ~/.local/share/kleos"),
        ProgramUsage.Row(
            "--private FOLDER", "everything in FOLDER: kleosd.conf, games.d, endpoints.d, the queue and the sockets"),
        ProgramUsage.Row("--config FOLDER", "read the configuration from FOLDER alone"),
        ProgramUsage.Row("--state FOLDER", "keep the queue in FOLDER"),
        ProgramUsage.Row("--sockets FOLDER", "make kleos.sock and control.sock in FOLDER"),
        ProgramUsage.Row(
            "--spool FOLDER",
            "take in what clients leave in FOLDER while the daemon does not answer: /var/spool/kleos, and with "
                + "--user, --private or --state the folder spool beside the queue"),
        ProgramUsage.Row(
            "--restore FILE",
            "put this backup in the place of the queue, which is set aside whole, and end; no daemon may be running"),
        ProgramUsage.Row("--exit-with-parent", "end when the process that started it ends"),
        ProgramUsage.Row("--help", "print this text"),
        ProgramUsage.Row("--version", "print the version"),
    ]
}
