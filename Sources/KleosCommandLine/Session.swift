import Glibc
package import KleosClient
package import KleosJSON
package import KleosSupport
package import KleosWire

/// What a running command has at hand: the terminal, the clock, and the way to the daemon. Used from one thread.
package final class Session {
    package let terminal: Terminal
    package let clock: any Clock
    package let sockets: SocketChoice
    /// Whether programs read the output: one JSON object a line.
    package let isJSON: Bool
    package let palette: Palette
    private var connections: [KleosSocketPaths.Socket: KleosConnection] = [:]
    private var widestSocket: KleosSocketPaths.Socket?

    /// Makes a session for one invocation.
    package init(_ invocation: Invocation, terminal: Terminal, clock: any Clock) {
        self.terminal = terminal
        self.clock = clock
        sockets = SocketChoice(invocation, environment: terminal.environment)
        isJSON = invocation.has("json")
        let hasColor = terminal.isOutputTerminal && terminal.environment("NO_COLOR") == nil
        palette = Palette(isColored: hasColor && !invocation.has("no-color") && terminal.environment("TERM") != "dumb")
    }

    /// The wall clock now, Unix milliseconds.
    package var nowMilliseconds: Int64 { clock.read().wallMilliseconds }

    /// The locale of what people read, as setlocale(3) finds it; nil where none is set.
    package var locale: String? {
        ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(terminal.environment).first { !$0.isEmpty }
    }

    /// Prints a line.
    package func line(_ text: String = "") {
        terminal.write(text + "\n")
    }

    /// Prints a value on one line.
    package func json(_ value: JSONValue) {
        terminal.write(HarmlessText.escaped(json: value.serialized) + "\n")
    }

    /// Prints a line to standard error.
    package func warn(_ text: String) {
        terminal.writeError("kleos: \(Printable.lines(text))\n")
    }

    /// A connection to the daemon, made at the first call; `sendTimeoutMilliseconds` is the connection's own. Throws a
    /// failure that names the sockets tried.
    package func connection(
        _ socket: KleosSocketPaths.Socket = .submit, sendTimeoutMilliseconds: Int64? = nil
    ) throws(CommandFailure) -> KleosConnection {
        if let connection = connections[socket] { return connection }
        var failures: [SystemError] = []
        for path in sockets.candidates(socket) {
            do throws(SystemError) {
                let connection = try KleosConnection(path: path, sendTimeoutMilliseconds: sendTimeoutMilliseconds)
                connections[socket] = connection
                return connection
            } catch {
                failures.append(error)
            }
        }
        throw DaemonFailure.unreachable(failures, socket: socket)
    }

    /// The socket on which the daemon tells this user of most: the control socket for operators, who see everybody's
    /// events there; the submit socket for everyone else, and where `--socket` names one.
    package func readingSocket() -> KleosSocketPaths.Socket {
        if let widestSocket { return widestSocket }
        // Who is refused here, or finds no such socket, sees their own on the other one.
        let isOperator = !sockets.isSubmitNamed && (try? request(.hello, on: .control)) != nil
        let socket = isOperator ? KleosSocketPaths.Socket.control : .submit
        widestSocket = socket
        return socket
    }

    /// Asks the daemon on `socket`, or on the control socket where the method needs it. Throws what the daemon refused.
    package func request(
        _ method: Method, _ parameters: JSONObject = JSONObject(), on socket: KleosSocketPaths.Socket = .submit
    ) throws(CommandFailure) -> JSONValue {
        let connection = try connection(method.needsControl ? .control : socket)
        do throws(ConnectionError) {
            return try connection.request(method, parameters)
        } catch {
            throw DaemonFailure.failure(error)
        }
    }

    /// Asks for long work, and shows on a terminal how far it has come. Throws what the daemon refused.
    package func requestShowingProgress(
        _ method: Method, _ parameters: JSONObject = JSONObject(), saying what: String
    ) throws(CommandFailure) -> JSONValue {
        let connection = try connection(method.needsControl ? .control : .submit)
        var bar = ProgressLine(what, terminal)
        defer { bar.clear() }
        do throws(ConnectionError) {
            let id = try connection.send(method, parameters)
            return try connection.receive(id) { name, parameters in
                guard name == ProgressMessage.method else { return }
                let message = ProgressMessage(json: parameters)
                bar.show(message.done, of: message.total)
            }
        } catch {
            throw DaemonFailure.failure(error)
        }
    }

    /// Waits for the next notification on `socket`; nil where none came within the time allowed. Throws what broke the
    /// connection.
    package func nextNotification(
        on socket: KleosSocketPaths.Socket = .submit, timeoutMilliseconds: Int64? = nil
    ) throws(CommandFailure) -> (method: String, parameters: JSONValue)? {
        let connection = try connection(socket)
        do throws(ConnectionError) {
            return try connection.nextNotification(timeoutMilliseconds: timeoutMilliseconds)
        } catch {
            throw DaemonFailure.failure(error)
        }
    }

    /// Asks a question that is answered with y or n; false where no terminal is there to answer.
    package func confirms(_ question: String) throws(CommandFailure) -> Bool {
        guard terminal.isInputTerminal else { return false }
        terminal.writeError("\(Printable.lines(question)) [y/N] ")
        let answer = String(decoding: try terminal.read(256), as: UTF8.self).lowercased()
        return answer.hasPrefix("y")
    }
}
