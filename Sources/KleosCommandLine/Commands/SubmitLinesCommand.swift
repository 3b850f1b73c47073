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
            "A line without an id gets one, but only for this run: give ids to make a repetition safe. A line that is "
                + "repeated later happened then, unless it says occurredAt, which boards with Keep=latest go by.",
            SubmitOptions.spoolDetails,
        ],
        options: [SubmitOptions.timeout],
        examples: [
            CommandExample(
                "echo '{\"kind\":\"score\",\"game\":\"minesweeper\",\"leaderboard\":\"beginner\",\"value\":12345}' "
                    + "| kleos submit -", "One score for the game's own player.")
        ],
        run: { invocation, session throws(CommandFailure) in
            var run = Run(session: session, timeout: try SubmitOptions.timeoutMilliseconds(invocation))
            return try run.all()
        })

    /// Requests that wait for an answer at the most; the daemon stops reading beyond its own limit.
    private static let window = 128

    private struct Run {
        /// A line that the daemon has not answered yet.
        private struct Outstanding {
            var line: Int
            var id: Int64
            var object: JSONObject
        }

        let session: Session
        let timeout: Int64
        /// Nil before the first line and after the daemon fell silent.
        private var connection: KleosConnection?
        /// Why what follows is spooled, and the socket of the daemon that is silent.
        private var silence: (failure: CommandFailure, socket: String?)?
        private var framer = LineFramer(maximumBytes: 65_536)
        private var lineNumber = 0
        private var accepted = 0
        private var spooled = 0
        private var refused = 0
        private var outstanding: [Outstanding] = []

        init(session: Session, timeout: Int64) {
            self.session = session
            self.timeout = timeout
        }

        mutating func all() throws(CommandFailure) -> ExitCode {
            do throws(CommandFailure) {
                connection = try session.connection(sendTimeoutMilliseconds: timeout)
            } catch  where Spooling.isAbsence(error) {
                silence = (error, nil)
            }
            while let bytes = try chunk() {
                framer.append(bytes)
                while let frame = framer.next() { try take(frame) }
                // Who writes the lines may pause for long, and wants to know of those that are written.
                while !outstanding.isEmpty { try receiveOldest() }
            }
            if !session.isJSON { session.line(summary) }
            return refused == 0 ? .success : .data
        }

        private var summary: String {
            var parts = ["\(Counted.text(accepted, "event")) accepted"]
            if spooled > 0 { parts.append("\(spooled) spooled") }
            if refused > 0 { parts.append("\(refused) refused") }
            return parts.joined(separator: ", ")
        }

        /// What standard input has, with a last line feed added at its end; nil after that.
        private func chunk() throws(CommandFailure) -> [UInt8]? {
            let bytes = try session.terminal.read(65_536)
            if !bytes.isEmpty { return bytes }
            return framer.hasPartialLine ? [UInt8(ascii: "\n")] : nil
        }

        private mutating func take(_ frame: LineFramer.Frame) throws(CommandFailure) {
            lineNumber += 1
            guard case .line(let line) = frame else { return refuse(lineNumber, "the line is too long") }
            if line.allSatisfy({ $0 == UInt8(ascii: " ") }) { return }
            switch Self.object(line) {
            case .success(var object):
                if object["id"] == nil { object["id"] = .string(SubmitOptions.newID(session)) }
                if object["occurredAt"] == nil, object["spooledAt"] == nil {
                    object["spooledAt"] = .string(Timestamp.text(milliseconds: session.nowMilliseconds))
                }
                try hand(object)
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

        private mutating func hand(_ object: JSONObject) throws(CommandFailure) {
            var entry = Outstanding(line: lineNumber, id: 0, object: object)
            guard let connection else { return try spool(entry) }
            do throws(ConnectionError) {
                entry.id = try connection.send(.submit, object)
                outstanding.append(entry)
            } catch {
                outstanding.append(entry)
                return try fellSilent(error, connection)
            }
            if outstanding.count >= SubmitLinesCommand.window { try receiveOldest() }
        }

        private mutating func receiveOldest() throws(CommandFailure) {
            guard let connection, let first = outstanding.first else { return }
            do throws(ConnectionError) {
                SubmitOptions.report(try connection.receive(first.id, timeoutMilliseconds: timeout), session)
                accepted += 1
                outstanding.removeFirst()
            } catch {
                guard case .refused(let reason) = error, !Spooling.isSilence(error) else {
                    return try fellSilent(error, connection)
                }
                outstanding.removeFirst()
                refuse(first.line, reason.description)
            }
        }

        /// Spools what was not answered; what follows goes there at once.
        private mutating func fellSilent(
            _ error: ConnectionError, _ silent: KleosConnection
        ) throws(CommandFailure) {
            var failure = DaemonFailure.failure(error)
            failure.message += "; \(Counted.text(accepted, "event")) accepted until then"
            guard Spooling.isSilence(error) else { throw failure }
            connection = nil
            silence = (failure, silent.path)
            let unanswered = outstanding
            outstanding = []
            for entry in unanswered { try spool(entry) }
        }

        private mutating func spool(_ entry: Outstanding) throws(CommandFailure) {
            guard let silence else { return }
            let submission: Submission
            do throws(RPCError) {
                submission = try SpoolFile.parse(JSONValue.object(entry.object).serializedBytes).submission
            } catch {
                return refuse(entry.line, error.description)
            }
            try Spooling(session).write(submission, silent: silence.socket, because: silence.failure)
            spooled += 1
        }

        private mutating func refuse(_ line: Int, _ why: String) {
            refused += 1
            session.warn("line \(line): \(why)")
        }
    }
}
