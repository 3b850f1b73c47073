import KleosModel
import KleosWire

/// `kleos backup`.
enum BackupCommand {
    static let specification = CommandSpecification(
        ["backup"], "Make a backup of the queue while the daemon goes on",
        details: [
            "The daemon copies its database into the folder backups beside it, checks the whole copy, and keeps the "
                + "newest ones (KeepBackups= in kleosd.conf). A backup is one file that needs nothing beside it.",
            "kleosd --restore FILE puts one in the place of the queue while no daemon runs.",
        ],
        examples: [CommandExample("kleos backup", "Prints where the backup is and how large.")],
        run: { _, session throws(CommandFailure) in
            let result = try session.requestShowingProgress(.backup, saying: "copying the queue")
            if session.isJSON {
                session.json(result)
                return .success
            }
            let answer = BackupAnswer(json: result)
            session.line("\(Printable.text(answer.path)), \(ByteText.text(answer.bytes)), checked and whole")
            if !answer.removed.isEmpty {
                session.line("\(Counted.text(answer.removed.count, "older backup")) removed")
            }
            return .success
        })
}
