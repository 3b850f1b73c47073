import Glibc
import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// `kleos import`.
enum ImportCommand {
    static let specification = CommandSpecification(
        ["import"], "Bring the events of an export into the queue",
        details: [
            "Events keep their keys, times, submitters and states: what was delivered stays so, what waited goes on. What is "
                + "there already stays as it is, so that a repetition does no harm.",
            "Where the export was made without --hold, the other machine sends what waited, too: where a second send counts "
                + "twice, it is held here with the reason restored until kleos release.",
        ],
        arguments: [
            ArgumentSpecification("FILE", "What kleos export wrote; standard input by default.", isOptional: true)
        ],
        examples: [CommandExample("kleos import queue.ndjson", "Goes on with another machine's queue.")],
        run: run)

    /// A request has room for so much beside its own words.
    private static let batchBytes = 52 << 10

    private static func run(_ invocation: Invocation, _ session: Session) throws(CommandFailure) -> ExitCode {
        var source = try ImportSource(path: invocation.argument(0), session)
        guard let first = try source.next(), first["kleos"]?.stringValue == "export" else {
            throw CommandFailure(.data, "this is no file that kleos export wrote", hint: "its first line says so")
        }
        guard first["version"]?.int64Value == ExportCommand.version else {
            throw CommandFailure(
                .data,
                "the export has version \(first["version"]?.int64Value ?? 0), and this kleos reads "
                    + "\(ExportCommand.version)", hint: "import it with the kleos that wrote it, or a later one")
        }
        var run = ImportRun(isHeld: first["held"]?.boolValue ?? false, session)
        var end: JSONValue?
        while let line = try source.next() {
            if line["end"] != nil {
                end = line
                break
            }
            try run.add(line, bytes: source.lineBytes, limit: batchBytes)
            run.show(source)
        }
        try run.send()
        run.clear()
        return try tell(run.answer, end, session)
    }

    private static func tell(
        _ answer: ImportAnswer, _ end: JSONValue?, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        if session.isJSON {
            session.json(answer.json)
        } else {
            session.line("\(Counted.text(answer.brought, "event")) brought over, \(answer.known) already there")
            if answer.aimless > 0 {
                session.line(
                    "\(Counted.text(answer.aimless, "event stays", "events stay")) behind for want of a configured endpoint; "
                        + "configure the game and repeat this")
            }
        }
        let count = Int64(answer.brought + answer.known + answer.aimless)
        guard end?["events"]?.int64Value == count else {
            throw CommandFailure(
                .data, "the export breaks off: what it has is here, and more may be missing",
                hint: "export again, and import that; what is here already does no harm")
        }
        return .success
    }
}

/// What was read and not sent yet, and what came of the rest.
private struct ImportRun {
    private(set) var answer = ImportAnswer()
    private let isHeld: Bool
    private let session: Session
    private var lines: [JSONValue] = []
    private var bytes = 0
    private var bar: ProgressLine

    init(isHeld: Bool, _ session: Session) {
        self.isHeld = isHeld
        self.session = session
        bar = ProgressLine("importing", session.terminal)
    }

    mutating func add(_ line: JSONValue, bytes count: Int, limit: Int) throws(CommandFailure) {
        if bytes + count > limit || lines.count >= ImportParameters.maximumLines { try send() }
        lines.append(line)
        bytes += count
    }

    mutating func send() throws(CommandFailure) {
        guard !lines.isEmpty else { return }
        let parameters = ImportParameters(lines: lines, isHeld: isHeld)
        let part = ImportAnswer(json: try session.request(.importEvents, parameters.parameters))
        answer.brought += part.brought
        answer.known += part.known
        answer.aimless += part.aimless
        lines = []
        bytes = 0
    }

    mutating func show(_ source: ImportSource) {
        if let total = source.totalBytes { bar.show(source.readBytes, of: total) }
    }

    mutating func clear() { bar.clear() }
}

/// The lines of an export.
private struct ImportSource {
    private let file: FileDescriptor?
    private let session: Session
    private var rest: ArraySlice<UInt8> = []
    private var isAtEnd = false
    private(set) var lineBytes = 0
    private(set) var readBytes: Int64 = 0
    /// Nil where the input is no file.
    private(set) var totalBytes: Int64?

    /// No line of an export is longer.
    private static let maximumLineBytes = 64 << 10
    private static let chunkBytes = 256 << 10

    init(path: String?, _ session: Session) throws(CommandFailure) {
        self.session = session
        guard let path, path != "-" else {
            file = nil
            return
        }
        do throws(SystemError) {
            let opened = try FileDescriptor.open(path, O_RDONLY)
            var information = stat()
            guard fstat(opened.number, &information) == 0 else { throw SystemError("look at \(path)") }
            file = opened
            totalBytes = Int64(information.st_size)
        } catch {
            throw CommandFailure(.data, error.description, hint: "name a file that kleos export wrote")
        }
    }

    /// The next line; nil at the end. Throws where a line is no JSON.
    mutating func next() throws(CommandFailure) -> JSONValue? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(rest[..<end])
                rest = rest[(end + 1)...]
                return try parse(line)
            }
            guard !isAtEnd, rest.count <= Self.maximumLineBytes else { return nil }
            try fill()
        }
    }

    private mutating func parse(_ line: [UInt8]) throws(CommandFailure) -> JSONValue {
        lineBytes = line.count + 1
        do throws(JSONError) {
            return try JSONParser.parse(line)
        } catch {
            throw CommandFailure(
                .data, "a line of the export is no JSON: \(error)",
                hint: "export again; what is here already does no harm")
        }
    }

    private mutating func fill() throws(CommandFailure) {
        let bytes: [UInt8]
        if let file {
            do throws(SystemError) {
                bytes = try file.read(limitBytes: Self.chunkBytes)
            } catch {
                throw CommandFailure(.system, error.description)
            }
        } else {
            bytes = try session.terminal.read(Self.chunkBytes)
        }
        isAtEnd = bytes.isEmpty
        readBytes += Int64(bytes.count)
        rest += bytes
    }
}
