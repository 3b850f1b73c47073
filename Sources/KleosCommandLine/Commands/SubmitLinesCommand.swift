import KleosClient
import KleosJSON
import KleosModel
import KleosWire

/// `kleos submit -`.
enum SubmitLinesCommand {
    static let specification = CommandSpecification(
        ["submit", "-"], "Hand over events from standard input",
        details: [
            "Each line is a JSON object with the parameters of submit. All lines are tried; those that are refused "
                + "are reported on standard error with their number, and make the exit code 65.",
            "A line without an id gets one, but only for this run: give ids to make a repetition safe.",
        ],
        examples: [
            CommandExample(
                "echo '{\"kind\":\"score\",\"game\":\"minesweeper\",\"leaderboard\":\"beginner\",\"value\":12345}' "
                    + "| kleos submit -", "One score for the game's own player.")
        ],
        run: { invocation, session throws(CommandFailure) in
            var run = Run(session: session, connection: try session.connection())
            return try run.all()
        })

    /// Requests that wait for an answer at the most; the daemon stops reading beyond its own limit.
    private static let window = 128

    private struct Run {
        let session: Session
        let connection: KleosConnection
        var framer = LineFramer(maximumBytes: 65_536)
        var lineNumber = 0
        var accepted = 0
        var refused = 0
        var outstanding: [(line: Int, id: Int64)] = []

        init(session: Session, connection: KleosConnection) {
            self.session = session
            self.connection = connection
        }

        mutating func all() throws(CommandFailure) -> ExitCode {
            while let bytes = try chunk() { try talk { run throws(ConnectionError) in try run.take(bytes) } }
            try talk { run throws(ConnectionError) in
                while !run.outstanding.isEmpty { try run.receiveOldest() }
            }
            if !session.isJSON { session.line(summary) }
            return refused == 0 ? .success : .data
        }

        private var summary: String {
            let text = "\(Counted.text(accepted, "event")) accepted"
            return refused == 0 ? text : "\(text), \(refused) refused"
        }

        private mutating func talk(_ body: (inout Run) throws(ConnectionError) -> Void) throws(CommandFailure) {
            do throws(ConnectionError) {
                try body(&self)
            } catch {
                var failure = DaemonFailure.failure(error)
                failure.message += "; \(Counted.text(accepted, "event")) accepted until then"
                throw failure
            }
        }

        private mutating func take(_ bytes: [UInt8]) throws(ConnectionError) {
            framer.append(bytes)
            while let frame = framer.next() { try take(frame) }
        }

        /// What standard input has, with a last line feed added at its end; nil after that.
        private func chunk() throws(CommandFailure) -> [UInt8]? {
            let bytes = try session.terminal.read(65_536)
            if !bytes.isEmpty { return bytes }
            return framer.hasPartialLine ? [UInt8(ascii: "\n")] : nil
        }

        private mutating func take(_ frame: LineFramer.Frame) throws(ConnectionError) {
            lineNumber += 1
            guard case .line(let line) = frame else { return refuse(lineNumber, "the line is too long") }
            if line.allSatisfy({ $0 == UInt8(ascii: " ") }) { return }
            switch Self.object(line) {
            case .success(var object):
                if object["id"] == nil { object["id"] = .string(SubmitOptions.newID(session)) }
                try send(object)
            case .failure(let problem): refuse(lineNumber, problem.text)
            }
        }

        private struct Problem: Error {
            let text: String
        }

        private static func object(_ line: [UInt8]) -> Result<JSONObject, Problem> {
            do throws(JSONError) {
                if case .object(let object) = try JSONParser.parse(line) { return .success(object) }
                return .failure(Problem(text: "the line is no JSON object"))
            } catch {
                return .failure(Problem(text: "the line is no JSON: \(error)"))
            }
        }

        private mutating func send(_ object: JSONObject) throws(ConnectionError) {
            outstanding.append((lineNumber, try connection.send(.submit, object)))
            if outstanding.count >= SubmitLinesCommand.window { try receiveOldest() }
        }

        private mutating func receiveOldest() throws(ConnectionError) {
            let (line, id) = outstanding.removeFirst()
            do throws(ConnectionError) {
                SubmitOptions.report(try connection.receive(id, timeoutMilliseconds: 60_000), session)
                accepted += 1
            } catch {
                guard case .refused(let reason) = error else { throw error }
                refuse(line, reason.description)
            }
        }

        private mutating func refuse(_ line: Int, _ why: String) {
            refused += 1
            session.warn("line \(line): \(why)")
        }
    }
}
