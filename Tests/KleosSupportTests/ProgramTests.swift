import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// What programs are started with, and how their end is told.
@Suite struct ProgramTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a script for sh to its end, and returns what it wrote.
    private func sh(_ script: String, environment: [String: String] = [:]) throws -> (ProcessEnding, String) {
        let input = try FileDescriptor.open("/dev/null", O_RDONLY)
        let output = try FileDescriptor.open(folder.path("output"), O_RDWR | O_CREAT | O_TRUNC)
        let process = try CommandProcess(
            command: ["/bin/sh", "-c", script], environment: environment, input: input, output: output)
        #expect(process.wait(reading: [], writing: [], milliseconds: 600_000))
        return (process.reap(), try SmallFile.readText(at: folder.path("output")))
    }

    @Test func hasItsVariablesAndNoOthers() throws {
        let (ending, text) = try sh("env", environment: ["ONE": "1", "TWO": "a = b\nc"])
        #expect(ending == .exited(0))
        // What sh sets by itself.
        let own: Set<Substring> = ["PWD", "SHLVL", "_", "OLDPWD"]
        let names = Set(text.split(separator: "\n").compactMap { $0.split(separator: "=").first })
        #expect(names.subtracting(own) == ["ONE", "TWO", "c"])
        #expect(text.contains("TWO=a = b\nc\n"))
    }

    @Test func hasNothingOpenButItsStandardFiles() throws {
        // Open on purpose in this process, as a careless library may leave it.
        let number = fcntl(STDERR_FILENO, F_DUPFD, 40)
        try #require(number >= 40)
        defer { close(number) }
        let (_, text) = try sh("for fd in /proc/self/fd/*; do [ -e \"$fd\" ] && echo \"${fd##*/}\"; done")
        #expect(text.split(separator: "\n").compactMap { Int($0) }.allSatisfy { $0 <= 2 || $0 == 3 }, "\(text)")
        #expect(!text.contains("40"))
    }

    @Test func noSignalIsBlockedOrIgnoredInIt() throws {
        signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, SIG_DFL) }
        let (_, text) = try sh("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        let masks = text.split(separator: "\n").compactMap { $0.split(separator: "\t").last }
        // The two signals above 31 that the C library keeps for itself are not its affair.
        #expect(masks.map { (UInt64($0, radix: 16) ?? .max) & 0x7FFF_FFFF } == [0, 0], "\(text)")
    }

    @Test func leadsAGroupWhereThatIsWanted() throws {
        let (_, text) = try sh("echo $$; ps -o pgid= -p $$")
        let numbers = text.split(whereSeparator: \.isWhitespace)
        #expect(numbers.count == 2 && numbers.first == numbers.last)
    }

    @Test func tellsHowItEnded() throws {
        #expect(try sh("exit 7").0 == .exited(7))
        #expect(try sh("kill -TERM $$").0 == .killed(signal: SIGTERM))
        #expect(ProcessEnding(waitStatus: 0) == .exited(0))
        #expect(ProcessEnding(waitStatus: 255 << 8) == .exited(255))
        // With the mark of a core dump.
        #expect(ProcessEnding(waitStatus: 11 | 0x80) == .killed(signal: 11))
    }

    @Test func stopKillsTheWholeGroup() throws {
        let fifo = try Fifo(folder.path("fifo"))
        let input = try FileDescriptor.open("/dev/null", O_RDONLY)
        let process = try CommandProcess(
            command: ["/bin/sh", "-c", "sleep 1000 & echo $! >\"$FIFO\"; wait"],
            environment: ["FIFO": fifo.path, "PATH": "/usr/bin:/bin"], input: input,
            output: try FileDescriptor.open("/dev/null", O_WRONLY))
        let child = try #require(pid_t(try fifo.nextLine()))
        #expect(!process.wait(reading: [], writing: [], milliseconds: 0))
        process.stop()
        #expect(Patience.until { Self.isGone(child) })
    }

    @Test func saysWhatCannotBeStarted() throws {
        let null = try FileDescriptor.open("/dev/null", O_RDWR)
        #expect(throws: SystemError("start /nowhere/program", code: ENOENT)) {
            _ = try CommandProcess(command: ["/nowhere/program"], environment: [:], input: null, output: null)
        }
        try SmallFile.replace(folder.path("text"), with: Array("no program".utf8))
        #expect(throws: SystemError("start \(folder.path("text"))", code: EACCES)) {
            _ = try ProgramStart.start(
                [folder.path("text")], environment: [:], files: (null.number, null.number, null.number),
                hasOwnGroup: false)
        }
    }

    @Test func variablesAreAddedReplacedAndRemoved() {
        setenv("KLEOS_SUPPORT_KEPT", "kept", 1)
        setenv("KLEOS_SUPPORT_OTHER", "old=1", 1)
        setenv("KLEOS_SUPPORT_EMPTY", "", 1)
        defer { for name in ["KEPT", "OTHER", "EMPTY"] { unsetenv("KLEOS_SUPPORT_\(name)") } }
        #expect(Environment["KLEOS_SUPPORT_OTHER"] == "old=1")
        #expect(Environment["KLEOS_SUPPORT_EMPTY"] == nil && Environment["KLEOS_SUPPORT_NONE"] == nil)
        #expect(Environment.adding([:])["KLEOS_SUPPORT_OTHER"] == "old=1")
        let variables = Environment.adding(["KLEOS_SUPPORT_OTHER": "new", "KLEOS_SUPPORT_KEPT": "", "KLEOS_MORE": "x"])
        #expect(variables["KLEOS_SUPPORT_OTHER"] == "new" && variables["KLEOS_MORE"] == "x")
        #expect(variables["KLEOS_SUPPORT_KEPT"] == nil)
        #expect(variables["PATH"] == Environment["PATH"])
    }

    @Test func aProgramEndsWithTheOneThatStartedIt() throws {
        let script = "\"$1\" --listen 127.0.0.1:0 --exit-with-parent & echo $!; exec sleep 1000"
        let parent = try ChildProcess(
            "/bin/sh", ["-c", script, "sh", BuiltPrograms.path("kleos-practice")], errorFile: folder.path("errors"))
        // Its number, and its own word that it listens: by then it looks after its parent.
        let lines = try [parent.nextLine(), parent.nextLine()].compactMap { $0 }
        let child = try #require(lines.compactMap { pid_t($0) }.first, "\(lines)")
        parent.send(SIGKILL)
        parent.wait()
        #expect(Patience.until { Self.isGone(child) })
    }

    /// Whether a process has ended; whoever is its parent by now may not have looked yet.
    private static func isGone(_ process: pid_t) -> Bool {
        guard let status = try? SmallFile.readText(at: "/proc/\(process)/stat") else { return true }
        return status.contains(") Z ")
    }
}
