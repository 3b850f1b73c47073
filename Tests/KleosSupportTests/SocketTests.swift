import Glibc
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct SocketTests {
    let folder: TemporaryFolder
    var path: String { folder.path("s") }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func listensWithItsModeFromTheFirstMoment() throws {
        let old = umask(0o077)
        let listener = try UnixSocket.listen(at: path, mode: 0o666)
        #expect(umask(old) == 0o077, "the mask of the process is as it was")
        var status = stat()
        try #require(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o666)
        #expect(throws: SystemError("bind \(path)", code: EADDRINUSE)) {
            _ = try UnixSocket.listen(at: path, mode: 0o666)
        }
        withExtendedLifetime(listener) {}
    }

    @Test func tellsWhoIsAtTheOtherEnd() throws {
        let listener = try UnixSocket.listen(at: path, mode: 0o600)
        try listener.setNonBlocking()
        #expect(try UnixSocket.accept(on: listener) == nil)
        let client = try UnixSocket.connect(to: path)
        let accepted = try #require(try UnixSocket.accept(on: listener))
        let peer = try UnixSocket.peer(of: accepted)
        #expect(peer.uid == getuid() && peer.gid == getgid() && peer.pid == getpid())
        #expect(peer.groups.contains(getgid()))
        #expect(Set(peer.groups).count == peer.groups.count)
        #expect(fcntl(accepted.number, F_GETFL) & O_NONBLOCK != 0)
        try client.writeAll([1])
        shutdown(client.number, Int32(SHUT_RDWR))
        #expect(try accepted.read(limitBytes: 8) == [1], "what was sent before can still be read")
    }

    @Test func saysWhyItCannotConnect() throws {
        #expect(throws: SystemError("connect to \(path)", code: ENOENT)) { _ = try UnixSocket.connect(to: path) }
        do { _ = try UnixSocket.listen(at: path, mode: 0o600) }
        #expect(throws: SystemError("connect to \(path)", code: ECONNREFUSED)) { _ = try UnixSocket.connect(to: path) }
    }

    @Test func aFullBacklogIsNotWaitedForWithoutNeed() throws {
        let listener = try UnixSocket.listen(at: path, mode: 0o600, backlog: 0)
        var waiting: [FileDescriptor] = []
        while let connection = try? UnixSocket.connect(to: path, isNonBlocking: true) { waiting.append(connection) }
        let refused = #expect(throws: SystemError.self) {
            _ = try UnixSocket.connect(to: path, isNonBlocking: true)
        }
        #expect(refused?.code == EAGAIN)
        let late = #expect(throws: SystemError.self) {
            _ = try UnixSocket.connect(to: path, sendTimeoutMilliseconds: 20)
        }
        #expect(late?.code == EAGAIN)
        withExtendedLifetime((listener, waiting)) {}
    }

    @Test(arguments: ["", String(repeating: "x", count: 108), "a\u{0}b"])
    func refusesAPathThatNoSocketCanHave(path: String) {
        let error = #expect(throws: SystemError.self) { _ = try UnixSocket.connect(to: path) }
        #expect(error?.code == ENAMETOOLONG)
        #expect(error?.description.contains("at most 107 bytes") == true)
    }

    @Test func takesAPathOfTheFullLength() throws {
        let name = String(repeating: "x", count: UnixSocket.maximumPathBytes - folder.path.utf8.count - 1)
        let listener = try UnixSocket.listen(at: folder.path(name), mode: 0o600)
        #expect(throws: Never.self) { _ = try UnixSocket.connect(to: folder.path(name)) }
        withExtendedLifetime(listener) {}
    }

    @Test func datagramsKeepTheirBorders() throws {
        let receiver = try UnixSocket.bindDatagrams(at: path)
        let child = try ChildProcess(
            "/usr/bin/perl",
            [
                "-MSocket", "-e",
                "socket(S, PF_UNIX, SOCK_DGRAM, 0); $a = pack_sockaddr_un($ARGV[0]); send(S, $_, 0, $a) for 'one', 'two'",
                path,
            ], errorFile: folder.path("errors"))
        #expect(try child.finish().isSuccess)
        #expect(try receiver.read(limitBytes: 64) == Array("one".utf8))
        #expect(try receiver.read(limitBytes: 64) == Array("two".utf8))
    }
}
