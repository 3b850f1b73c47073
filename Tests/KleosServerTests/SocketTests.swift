import Glibc
import KleosServer
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct SocketTests {
    let folder: TemporaryFolder
    var path: String { folder.path("kleos.sock") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(_ path: String) -> UInt32 {
        var information = stat()
        return lstat(path, &information) == 0 ? information.st_mode & 0o7777 : 0
    }

    @Test func bindsWithTheModeOfTheRole() throws {
        let submit = try SocketBinding.listen(at: path, role: .submit)
        let control = try SocketBinding.listen(at: folder.path("control.sock"), role: .control, controlGID: getgid())
        #expect(mode(path) == 0o666)
        #expect(mode(folder.path("control.sock")) == 0o660)
        #expect(submit.ownedPath == path)
        #expect(control.role == .control)
        _ = try UnixSocket.connect(to: path)
    }

    @Test func takesOverAStaleSocket() throws {
        do {
            // Closed without being unlinked, as after a kill.
            _ = try UnixSocket.listen(at: path, mode: 0o666)
        }
        #expect(throws: SystemError.self) { _ = try UnixSocket.connect(to: path) }
        let listener = try SocketBinding.listen(at: path, role: .submit)
        withExtendedLifetime(listener) {
            #expect(throws: Never.self) { _ = try UnixSocket.connect(to: path) }
        }
    }

    @Test func leavesALiveSocketAlone() throws {
        let alive = try UnixSocket.listen(at: path, mode: 0o600)
        #expect(throws: ListenerError.self) { _ = try SocketBinding.listen(at: path, role: .submit) }
        #expect(mode(path) == 0o600)
        withExtendedLifetime(alive) {
            #expect(throws: Never.self) { _ = try UnixSocket.connect(to: path) }
        }
    }

    @Test func doesNotTakeASlowDaemonForDead() throws {
        let slow = try UnixSocket.listen(at: path, mode: 0o600, backlog: 0)
        var waiting: [FileDescriptor] = []
        while let connection = try? UnixSocket.connect(to: path, isNonBlocking: true) { waiting.append(connection) }
        #expect(!waiting.isEmpty)
        #expect(throws: ListenerError.self) { _ = try SocketBinding.listen(at: path, role: .submit) }
        withExtendedLifetime(slow) { #expect(mode(path) == 0o600) }
    }

    @Test func leavesOtherFilesAlone() throws {
        try SmallFile.replace(path, with: Array("precious".utf8))
        #expect(throws: ListenerError.self) { _ = try SocketBinding.listen(at: path, role: .submit) }
        #expect(try SmallFile.readText(at: path) == "precious")
    }

    // MARK: Activation

    /// Puts a copy of `descriptor` at a number high enough that nobody uses it.
    private func handOver(_ descriptor: FileDescriptor) throws -> Int32 {
        let number = fcntl(descriptor.number, F_DUPFD, 700)
        try #require(number >= 700)
        return number
    }

    private func activate(
        _ first: Int32, names: String, count: Int = 1, processID: Int32 = 42
    ) throws(ListenerError) -> [Listener] {
        let environment = ["LISTEN_FDS": String(count), "LISTEN_PID": "42", "LISTEN_FDNAMES": names]
        return try SocketActivation.listeners(
            environment: { environment[$0] }, processID: processID, firstDescriptor: first)
    }

    @Test func takesSocketsFromTheServiceManager() throws {
        let number = try handOver(UnixSocket.listen(at: path, mode: 0o666))
        let listeners = try activate(number, names: "submit")
        #expect(listeners.map(\.role) == [.submit])
        #expect(listeners.first?.ownedPath == nil)
        #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
        #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
        _ = try UnixSocket.connect(to: path)
    }

    @Test func ignoresSocketsForAnotherProcess() throws {
        #expect(try activate(700, names: "submit", processID: 43).isEmpty)
        #expect(try SocketActivation.listeners(environment: { _ in nil }).isEmpty)
    }

    @Test func refusesWhatIsNoListeningSocket() throws {
        let (left, right) = try UnixSocket.pair()
        let number = try handOver(left)
        defer { Glibc.close(number) }
        #expect(throws: ListenerError.self) { _ = try activate(number, names: "submit") }
        withExtendedLifetime(right) {}
    }

    @Test(arguments: ["", "submit:control", "other"])
    func refusesWrongNames(names: String) throws {
        let number = try handOver(UnixSocket.listen(at: path, mode: 0o666))
        defer { Glibc.close(number) }
        #expect(throws: ListenerError.self) { _ = try activate(number, names: names) }
    }
}
