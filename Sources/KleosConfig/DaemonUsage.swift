/// What the command line of `kleosd` says, for its help and its page of the manual.
package enum DaemonUsage {
    /// One option.
    package struct Option: Sendable {
        /// As it is typed, with what its value is called.
        package let spelling: String
        /// What it does; no point at the end.
        package let text: String
    }

    /// One way in which the program ends.
    package struct Code: Sendable {
        package let number: Int
        package let text: String
    }

    package static let summary = "the daemon of kleos, a durable outbox for achievements and scores"

    package static let introduction =
        "Without options it is the system's daemon: configuration in /etc/kleos, queue in /var/lib/kleos, sockets in "
        + "/run/kleos."

    package static let options = [
        Option(
            spelling: "--user",
            text: "a user's own daemon: configuration in ~/.config/kleos, queue in ~/.local/state/kleos, sockets in "
                + "$XDG_RUNTIME_DIR/kleos and in ~/.local/share/kleos"),
        Option(
            spelling: "--private FOLDER",
            text: "everything in FOLDER: kleosd.conf, games.d, endpoints.d, the queue and the sockets"),
        Option(spelling: "--config FOLDER", text: "read the configuration from FOLDER alone"),
        Option(spelling: "--state FOLDER", text: "keep the queue in FOLDER"),
        Option(spelling: "--sockets FOLDER", text: "make kleos.sock and control.sock in FOLDER"),
        Option(
            spelling: "--spool FOLDER",
            text: "take in what clients leave in FOLDER while the daemon does not answer: /var/spool/kleos, and with "
                + "--user, --private or --state the folder spool beside the queue"),
        Option(
            spelling: "--restore FILE",
            text: "put this backup in the place of the queue, which is set aside whole, and end; no daemon may be "
                + "running"),
        Option(spelling: "--exit-with-parent", text: "end when the process that started it ends"),
        Option(spelling: "--help", text: "print this text"),
        Option(spelling: "--version", text: "print the version"),
    ]

    package static let signals = "SIGHUP reads the configuration again; SIGTERM and SIGINT stop."

    package static let exitCodes = [
        Code(number: 0, text: "stopped"), Code(number: 64, text: "wrong options"),
        Code(number: 69, text: "another daemon runs"),
        Code(number: 74, text: "the queue cannot be opened or written"),
        Code(number: 77, text: "a folder's owner is wrong"), Code(number: 78, text: "the configuration has errors"),
    ]

    /// What `--help` prints.
    package static var help: String {
        let codes = exitCodes.map { "\($0.number) \($0.text)" }.joined(separator: ", ")
        var lines =
            ["kleosd - \(summary)", "", "Usage: kleosd [OPTIONS]", ""] + wrapped(introduction, width: 88) + [""]
        for option in options {
            let text = wrapped(option.text, width: 70)
            lines += text.enumerated().map { index, line in
                let label = index == 0 ? option.spelling : ""
                return "  \(label)\(String(repeating: " ", count: max(0, 18 - label.count)))  \(line)"
            }
        }
        lines += [""] + wrapped(signals, width: 88) + wrapped("Exit codes: \(codes).", width: 88)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + 1 + word.count > width {
                lines.append("")
            }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}
