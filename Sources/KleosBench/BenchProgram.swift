import Glibc
import KleosSupport

/// The program's commands: the whole run, and each load alone.
package enum BenchProgram {
    static let help = """
        kleos-bench - measures kleos beside what the disk, SQLite and libcurl can do alone

        Usage: kleos-bench run [OPTIONS]
               kleos-bench sync FOLDER SECONDS
               kleos-bench sqlite FOLDER ROWS SECONDS
               kleos-bench enqueue SOCKET CLIENTS WINDOW SECONDS
               kleos-bench post URL CONNECTIONS SECONDS

          run      everything, with the programs of kleos that lie beside this one
          sync     appends 256 bytes and syncs, again and again: what the disk alone can do
          sqlite   ROWS rows a commit into one table without indexes
          enqueue  CLIENTS connections to a daemon whose game "bench" has a board "runs", each with WINDOW unanswered
                   submissions
          post     bare libcurl: CONNECTIONS requests at a time, as a delivery would send them

        Options of run:
          --rounds N      Measure everything so many times; the medians count (5).
          --seconds N     The length of one measurement (2).
          --quick         Less of it, in less than two minutes.
          --backlog [N]   Measure also with so many events waiting (1100000).
          --peers         Measure also redis-server, beanstalkd and PostgreSQL, where they are installed.
          --json          Print one JSON object a line.
          --markdown      Print the tables as Markdown.

        """

    /// Runs `arguments`, and returns the exit code: 0 where everything was measured, whatever it was.
    package static func run(_ arguments: [String]) -> Int32 {
        do {
            return try perform(arguments)
        } catch let error as UsageError {
            StandardStream.errors.write("kleos-bench: \(error.text)\n  kleos-bench --help says more\n")
            return EX_USAGE
        } catch {
            StandardStream.errors.write("kleos-bench: \(error)\n")
            return EX_SOFTWARE
        }
    }

    private struct UsageError: Error {
        let text: String
    }

    private static func perform(_ arguments: [String]) throws -> Int32 {
        let words = Array(arguments.dropFirst())
        switch (arguments.first, words.count) {
        case ("run", _): return try runAll(words)
        case ("sync", 2): print("sync", try SyncLoop.run(folder: words[0], seconds: number(words[1])))
        case ("sqlite", 3):
            let rows = try count(words[1])
            print("sqlite_\(rows)", try SQLiteLoop.run(folder: words[0], rows: rows, seconds: number(words[2])))
        case ("enqueue", 4):
            let shape = Shape(clients: try count(words[1]), window: try count(words[2]))
            var events = EventLines(game: BenchDaemon.game)
            let load = Load(shape, seconds: try number(words[3]))
            print("enqueue_\(shape)", try load.run(&events) { try UnixSocket.connect(to: words[0]) })
        case ("post", 3):
            let connections = try count(words[1])
            let result = try PostLoop.run(url: words[0], connections: connections, seconds: number(words[2]))
            print("post_\(connections)", result)
        case ("--help", _): StandardStream.output.write(help)
        default: throw UsageError(text: "these are no arguments of it: \(arguments.joined(separator: " "))")
        }
        return 0
    }

    private static func runAll(_ words: [String]) throws -> Int32 {
        let options: BenchOptions
        do throws(BenchFailure) {
            options = try BenchOptions(words)
        } catch {
            throw UsageError(text: error.description)
        }
        let run = try BenchRun(options, parent: Environment["TMPDIR"] ?? "/var/tmp")
        // What was measured before a failure is printed all the same.
        let failure: (any Error)?
        do {
            try run.measure()
            failure = nil
        } catch {
            failure = error
        }
        let report = Report(run.ledger, machine: Machine.description(endpoint: run.endpointName))
        StandardStream.output.write(report.text(options.form))
        run.say("done")
        if let failure { throw failure }
        return 0
    }

    private static func print(_ name: String, _ result: LoadResult) {
        StandardStream.output.write(result.line(name))
    }

    private static func number(_ text: String) throws(UsageError) -> Double {
        guard let number = Double(text), number > 0, number < 1e6 else {
            throw UsageError(text: "\(text) is not a positive number")
        }
        return number
    }

    private static func count(_ text: String) throws(UsageError) -> Int {
        guard let count = Int(text), (1...100_000).contains(count) else {
            throw UsageError(text: "\(text) is not a whole number from 1 to 100000")
        }
        return count
    }
}
