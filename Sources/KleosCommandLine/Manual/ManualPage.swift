import KleosConfig
import KleosMinesweeper
import KleosPractice
import KleosSupport
import KleosWire

/// The pages for man(1), made from the tables that the programs go by. Pure.
package enum ManualPage: String, Sendable, CaseIterable {
    case kleos = "kleos.1"
    case practice = "kleos-practice.1"
    case minesweeper = "kleos-minesweeper.1"
    case kleosd = "kleosd.8"
    case configuration = "kleosd.conf.5"
    case protocolPage = "kleos-protocol.7"

    /// The page's text. `document` is the text of docs/protocol.md, from which the page of the protocol is made; nil
    /// gives nil there.
    package func text(document: String? = nil) -> String? {
        let lines: [String]
        switch self {
        case .kleos: lines = Self.commands
        case .practice: lines = Self.program(PracticeProgram.usage, section: 1, ["kleos(1)", "kleosd(8)"])
        case .minesweeper: lines = Self.program(MinesweeperUsage.usage, section: 1, ["kleos(1)", "kleos-practice(1)"])
        case .kleosd:
            lines = Self.program(
                DaemonUsage.usage, section: 8, ["kleos(1)", "kleosd.conf(5)", "kleos-protocol(7)"])
        case .configuration: lines = Self.settings
        case .protocolPage:
            guard let document else { return nil }
            lines = Self.head("kleos-protocol", 7, "what programs say to kleosd") + MarkdownManual.lines(document)
        }
        return Self.withoutNeedlessBreaks(lines).joined(separator: "\n") + "\n"
    }

    /// A heading breaks a paragraph by itself.
    private static func withoutNeedlessBreaks(_ lines: [String]) -> [String] {
        var kept: [String] = []
        for line in lines {
            let follows = [".SH", ".SS"].contains { kept.last?.hasPrefix($0) == true }
            if line != ".PP" || !follows { kept.append(line) }
        }
        return kept
    }

    private static func head(_ name: String, _ section: Int, _ summary: String) -> [String] {
        [
            Roff.title(name, section: section, version: ProtocolVersion.program, manual: "kleos"),
            Roff.heading("Name"),
        ] + Roff.filled("\(name) - \(summary)")
    }

    // MARK: kleos(1)

    private static var commands: [String] {
        var lines = head("kleos", 1, "hand a game's scores and achievements over, and see what became of them")
        lines += [Roff.heading("Synopsis"), ".B kleos", "COMMAND [OPTIONS] [ARGUMENTS]", Roff.heading("Description")]
        lines += Roff.filled(
            "kleos hands events to kleosd(8), which has them on disk before it answers and submits them to leaderboard "
                + "services until each is confirmed or visibly rejected; it shows what became of them, and operates the "
                + "queue. Tables are for people; with `--json` every command prints one JSON object a line.")
        lines.append(Roff.heading("Commands"))
        for command in CommandTable.commands { lines += section(of: command) }
        lines.append(Roff.heading("Options of every command"))
        for option in CommonOptions.global { lines += item(option) }
        lines.append(Roff.heading("Environment"))
        for (name, text) in environment { lines += Roff.item(name, text) }
        lines.append(Roff.heading("Exit status"))
        for (code, text) in exitCodes { lines += Roff.item(String(code.rawValue), text) }
        return lines
            + seeAlso([
                "kleos-practice(1)", "kleos-minesweeper(1)", "kleosd(8)", "kleosd.conf(5)", "kleos-protocol(7)",
            ])
    }

    private static func section(of command: CommandSpecification) -> [String] {
        var lines = [Roff.subheading("kleos \(HelpText.usage(command))")] + Roff.filled("\(command.summary).")
        for text in command.details { lines += Roff.paragraph(text) }
        for argument in command.arguments { lines += Roff.item(argument.name, argument.summary) }
        for option in command.options { lines += item(option) }
        for example in command.examples {
            lines += Roff.verbatim([example.line]) + Roff.filled(example.summary)
        }
        return lines
    }

    private static func item(_ option: OptionSpecification) -> [String] {
        let choices = option.choices.isEmpty ? "" : " One of \(option.choices.joined(separator: ", "))."
        return Roff.item(option.spelling, option.summary + choices)
    }

    private static let environment = [
        ("KLEOS_SOCKET", "The daemon's socket, in place of the usual places."),
        ("KLEOS_CONTROL_SOCKET", "The socket for operators; by default control.sock beside KLEOS_SOCKET."),
        ("XDG_RUNTIME_DIR", "Where a user's own daemon has its sockets, in the folder kleos."),
        ("NO_COLOR", "Where it is set, there are no colours."),
    ]

    private static let exitCodes: [(ExitCode, String)] = [
        (.success, "Done."),
        (.failure, "The daemon answered and could not do it all; a warning of `kleos status --check`."),
        (.critical, "What `kleos status --check` found needs somebody."),
        (.usage, "The command line is wrong."),
        (.data, "The input is wrong: an unknown game, a value out of range, a key that nobody has."),
        (.unavailable, "No daemon answers."),
        (.software, "An error inside kleos."),
        (.system, "Something on this machine failed."),
        (.temporary, "Not now; the same command may work later."),
        (.contract, "The daemon talks in a way that kleos does not understand."),
        (.permission, "Not permitted."),
        (.configuration, "The configuration is wrong."),
    ]

    private static func seeAlso(_ pages: [String]) -> [String] {
        [Roff.heading("See also")] + Roff.filled(pages.joined(separator: ", "))
    }

    // MARK: Programs that have no commands

    private static func program(_ usage: ProgramUsage, section: Int, _ others: [String]) -> [String] {
        var lines = head(usage.name, section, usage.summary) + [Roff.heading("Synopsis")]
        for (index, form) in usage.forms.enumerated() {
            lines += (index > 0 ? [".br"] : []) + [".B \(usage.name)"]
            lines.append(Roff.escaped(String(form.label.dropFirst(usage.name.count + 1))))
        }
        lines += [Roff.heading("Description")] + Roff.filled(usage.introduction)
        for form in usage.forms where !form.text.isEmpty { lines += Roff.item(form.label, "\(form.text).") }
        for group in usage.groups {
            lines.append(Roff.heading(group.heading))
            for row in group.rows { lines += Roff.item(row.label, "\(row.text).") }
        }
        for note in usage.notes { lines += [Roff.heading(note.label)] + Roff.filled(note.text) }
        lines.append(Roff.heading("Exit status"))
        for code in usage.exitCodes { lines += Roff.item(String(code.number), "\(code.text).") }
        return lines + seeAlso(others)
    }

    // MARK: kleosd.conf(5)

    private static var settings: [String] {
        var lines = head("kleosd.conf", 5, "configuration of kleosd: the daemon, games and endpoints")
        lines.append(Roff.heading("Synopsis"))
        lines += ["/etc/kleos/kleosd.conf", ".br", "/etc/kleos/games.d/*.conf", ".br", "/etc/kleos/endpoints.d/*.conf"]
        lines.append(Roff.heading("Description"))
        lines += Roff.filled(
            "Files have sections in brackets and lines of the form `Key=Value`; a line that begins with # or ; is a "
                + "comment. Beside each file a folder of its name with .d at the end may hold drop-ins, read in the order "
                + "of their names, which change single settings. What a package brings is in /usr/share/kleos; a file of "
                + "the same name in /etc/kleos replaces it, and a link to /dev/null masks it. A user's own daemon reads "
                + "~/.config/kleos in its place. kleos config check says whether all is well, and kleos reload applies a "
                + "change whole or not at all.")
        for file in [DaemonFile.definition, GameFile.definition, EndpointFile.definition] {
            lines += [Roff.heading(file.name)] + Roff.filled(file.documentation)
            for section in file.sections {
                let title = section.argument.map { "\(section.name) \($0)" } ?? section.name
                lines += [Roff.subheading("[\(title)]")] + Roff.filled(section.documentation)
                for setting in section.settings {
                    let standard = setting.standard.isEmpty ? "" : " By default `\(setting.standard)`."
                    lines += Roff.item(
                        "\(setting.key)=", "\(setting.documentation) The value is \(setting.expectation).\(standard)")
                }
            }
        }
        return lines + seeAlso(["kleos(1)", "kleosd(8)", "kleos-protocol(7)"])
    }
}
