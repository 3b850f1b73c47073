import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// `kleos export`.
enum ExportCommand {
    /// The version of the form of a file.
    static let version: Int64 = 1

    static let specification = CommandSpecification(
        ["export"], "Write the queue as lines of JSON, for another machine",
        details: [
            "Events with their deliveries and receipts, what was confirmed, and the notices that nobody was shown; sign-ins "
                + "are left out. kleos import brings them into another queue under their own keys.",
            "With --hold each event is held here as it is exported, and its notices are not shown here any more, so that "
                + "only the other machine goes on: that moves a queue. Where it breaks off, export again: what is held is in "
                + "that file, too. Without --hold, both would send.",
        ],
        arguments: [
            ArgumentSpecification(
                "FILE", "Where to, readable for you alone; standard output by default.", isOptional: true)
        ],
        options: [OptionSpecification("hold", nil, "Hold here what is exported.")],
        examples: [CommandExample("kleos export --hold queue.ndjson", "Moves the queue into a file.")],
        run: run)

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        let isHeld = invocation.has("hold")
        let target = try ExportTarget(path: invocation.argument(0), session)
        defer { target.removeUnfinished() }
        var bar = ProgressLine("exporting", session.terminal)
        defer { bar.clear() }
        try target.write([
            "kleos": "export", "version": .integer(version), "held": .bool(isHeld),
            "exportedAt": .string(Timestamp.text(milliseconds: session.nowMilliseconds)),
        ])
        var cursor: String?
        var count: Int64 = 0
        var isWhole = false
        repeat {
            let answer = try ask(cursor, isHeld: isHeld, session)
            for line in answer.lines {
                if line["event"] != nil { count += 1 }
                try target.write(line)
            }
            if !target.isStandardOutput { bar.show(answer.done, of: answer.total) }
            cursor = answer.cursor
            isWhole = answer.isWhole
        } while cursor != nil && !isWhole
        try target.write(["end": true, "events": .integer(count)])
        try target.finish()
        // Only now are the lines safe, and what they hold is given away.
        while let next = cursor { cursor = try ask(next, isHeld: isHeld, session).cursor }
        bar.clear()
        if target.isStandardOutput { return .success }
        if session.isJSON {
            session.json(["events": .integer(count), "held": .bool(isHeld)])
        } else {
            session.line(
                "\(Counted.text(Int(clamping: count), "event")) exported\(isHeld ? ", and held here from now on" : "")")
        }
        return .success
    }

    private static func ask(
        _ cursor: String?, isHeld: Bool, _ session: Session
    ) throws(CommandFailure) -> ExportAnswer {
        let parameters = ExportParameters(cursor: cursor, isHeld: isHeld)
        return ExportAnswer(json: try session.request(.exportEvents, parameters.parameters))
    }
}

/// Where an export goes: a file that gets its name when it is whole, or standard output.
private struct ExportTarget {
    private let path: String?
    private let file: FileDescriptor?
    private let session: Session

    var isStandardOutput: Bool { path == nil }
    private static let unfinished = ".part"

    init(path: String?, _ session: Session) throws(CommandFailure) {
        self.session = session
        self.path = path == "-" ? nil : path
        guard let path = self.path else {
            file = nil
            return
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw .usage("\(path) is there, and no file", hint: "without a name the export goes to standard output")
        }
        // One that is there already may be readable for others.
        unlink(path + Self.unfinished)
        do throws(SystemError) {
            file = try FileDescriptor.open(
                path + Self.unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw CommandFailure(.system, error.description, hint: "choose another place for the file")
        }
    }

    func write(_ line: JSONValue) throws(CommandFailure) {
        guard let file else { return session.json(line) }
        do throws(SystemError) {
            try file.writeAll(line.serializedBytes + [UInt8(ascii: "\n")])
        } catch {
            throw CommandFailure(.system, error.description, hint: "make room, and export again")
        }
    }

    /// Removes what did not become whole.
    func removeUnfinished() {
        if let path { unlink(path + Self.unfinished) }
    }

    /// Gives the file its name. Throws a failure.
    func finish() throws(CommandFailure) {
        guard let file, let path else { return }
        do throws(SystemError) {
            guard fsync(file.number) == 0 else { throw SystemError("sync \(path)\(Self.unfinished)") }
            guard rename(path + Self.unfinished, path) == 0 else {
                throw SystemError("rename \(path)\(Self.unfinished)")
            }
            try SmallFile.syncFolder(of: path)
        } catch {
            throw CommandFailure(.system, error.description, hint: "make room, and export again")
        }
    }
}
