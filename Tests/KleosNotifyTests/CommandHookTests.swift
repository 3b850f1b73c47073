import Glibc
import KleosNotify
import KleosSupport
import KleosTestSupport
import Testing

@Suite("The command hook")
struct CommandHookTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func isWritten(_ name: String) -> Bool {
        (try? SmallFile.readText(at: folder.path(name)).hasSuffix("\n")) ?? false
    }

    private func script(_ text: String) throws -> String {
        let path = folder.path("hook")
        try SmallFile.replace(path, with: Array("#!/bin/sh\n\(text)\n".utf8), mode: 0o700)
        return path
    }

    @Test func theNoticeComesOnStandardInputAndArgumentsStayWhole() throws {
        let hook = CommandHook(command: [
            try script("cat > '\(folder.path)/seen'; printf '%s|' \"$@\""), "a b", "$HOME",
        ])
        let report = try hook.run(input: Array("{\"number\":1}\n".utf8))
        #expect(report.isSuccess)
        #expect(report.output == "a b|$HOME|")
        #expect(try SmallFile.readText(at: folder.path("seen")) == "{\"number\":1}\n")
    }

    @Test func theExitStatusAndStandardErrorAreReported() throws {
        let report = try CommandHook(command: [try script("echo no light >&2; exit 3")]).run(input: [])
        #expect(report.ending == .exited(3))
        #expect(report.output == "no light")
        #expect(report.summary == "exited with status 3")
    }

    @Test func aSignalIsReported() throws {
        let report = try CommandHook(command: [try script("kill -TERM $$")]).run(input: [])
        #expect(report.ending == .killed(signal: SIGTERM))
    }

    @Test func aCommandThatDoesNotReadIsFine() throws {
        let report = try CommandHook(command: ["/bin/true"]).run(input: [UInt8](repeating: 0x20, count: 1 << 20))
        #expect(report.isSuccess)
    }

    @Test("S-33: a command that takes too long is killed with its children")
    func aCommandThatTakesTooLongIsKilledWithItsChildren() throws {
        let path = try script("echo started; sleep 1000 & echo $! > '\(folder.path)/child'; wait")
        // Long enough for the script to come to its wait: found by trying, since machines differ.
        var timeoutMilliseconds: Int64 = 500
        var report = try CommandHook(command: [path], timeoutMilliseconds: timeoutMilliseconds).run(input: [])
        while report.output.isEmpty || !isWritten("child"), timeoutMilliseconds < 600_000 {
            timeoutMilliseconds *= 2
            report = try CommandHook(command: [path], timeoutMilliseconds: timeoutMilliseconds).run(input: [])
        }
        #expect(report.ending == .timedOut)
        #expect(report.output == "started")
        let child = try SmallFile.readText(at: folder.path("child")).split(separator: "\n").first.flatMap { pid_t($0) }
        let pid = try #require(child)
        // The kernel ends the group one after another; a dead process is gone, or a zombie where nobody reaps orphans.
        var state: Substring?
        let isGone = Patience.until {
            state = try? SmallFile.readText(at: "/proc/\(pid)/stat").split(separator: " ")[2]
            return state == nil || state == "Z"
        }
        #expect(isGone)
    }

    @Test("S-34: output is cut") func outputIsCut() throws {
        let path = try script("head -c 100000 /dev/zero | tr '\\0' x")
        let report = try CommandHook(command: [path], maximumOutputBytes: 100).run(input: [])
        #expect(report.isSuccess)
        #expect(report.output == String(repeating: "x", count: 100))
    }

    @Test func itSeesNoDescriptorsAndNoSecretsOfTheDaemon() throws {
        let file = try FileDescriptor.open("/dev/null", O_RDONLY)
        #expect(fcntl(file.number, F_SETFD, 0) == 0)
        setenv("KLEOS_TEST_SECRET", "hidden", 1)
        let report = try CommandHook(command: [try script("ls /proc/self/fd | wc -l; env | grep -c KLEOS_")]).run(
            input: [])
        // 0, 1, 2 and the folder that ls reads.
        #expect(report.output == "4\n0")
    }

    @Test func aMissingCommandIsAnError() throws {
        #expect(throws: SystemError("start /nowhere/hook", code: ENOENT)) {
            try CommandHook(command: ["/nowhere/hook"]).run(input: [])
        }
    }

    @Test func itIsCancelled() throws {
        let (ours, theirs) = try UnixSocket.pair()
        try ours.writeAll([0])
        let report = try CommandHook(command: ["/bin/sleep", "1000"]).run(input: [], cancellation: theirs)
        #expect(report.ending == .cancelled)
    }
}
