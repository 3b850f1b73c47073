import Dispatch
import Glibc
import KleosConfig
import KleosJSON
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosTestSupport
import KleosWire
import Synchronization

/// A value that closures on several queues share.
final class Box<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}

/// A server on sockets in a folder of its own, over a real store.
final class ServerHarness: Sendable {
    let store: TemporaryStore
    let server: Server
    /// What the hooks were called with, a line each.
    let calls = Box<[String]>([])
    /// The user and groups that the next connections seem to have; nil for the real ones.
    let identity = Box<PeerIdentity?>(nil)

    var submitPath: String { store.folder.path("kleos.sock") }
    var controlPath: String { store.folder.path("control.sock") }

    static let uid: UInt32 = 4_711
    static let otherUID: UInt32 = 4_712
    static let gid: UInt32 = 900

    static let games = [
        Game(
            id: "minesweeper", endpoints: ["home"], player: "ada",
            permission: SubmitPermission(uids: [uid, otherUID]),
            leaderboards: [
                Leaderboard(
                    id: "beginner", order: .ascending, keep: .best, minimum: ScoreValue(units: 1),
                    maximum: ScoreValue(units: 1_000_000)),
                Leaderboard(id: "every", keep: .every), Leaderboard(id: "fine", decimals: 2),
            ],
            achievements: [Achievement(id: "impossible-mission"), Achievement(id: "stepwise", steps: 10)]),
        Game(id: "private", endpoints: ["home"], permission: SubmitPermission(gids: [gid])),
        Game(
            id: "homeless", permission: SubmitPermission(isOpen: true), leaderboards: [Leaderboard(id: "beginner")]),
    ]

    init(
        limits: ConnectionLimits = ConnectionLimits(), stallTimeoutMilliseconds: Int = 30_000,
        notices: NoticeRoutes = NoticeRoutes(), noticeClaimMilliseconds: Int64 = 60_000,
        condition: EndpointCondition = EndpointCondition(name: "home", url: "http://127.0.0.1:1", kind: .up)
    ) throws {
        store = try TemporaryStore()
        let identity = identity
        let settings = ServerSettings(
            games: Dictionary(uniqueKeysWithValues: Self.games.map { ($0.id, $0) }),
            endpoints: ["home": Endpoint(name: "home", url: "http://127.0.0.1:1")], limits: limits,
            controlGID: Self.gid, daemonUID: 990, stallTimeoutMilliseconds: stallTimeoutMilliseconds,
            notices: notices, noticeClaimMilliseconds: noticeClaimMilliseconds)
        identity.withLock { $0 = PeerIdentity(uid: Self.uid, gid: Self.uid, pid: getpid(), groups: [Self.uid]) }
        let calls = calls
        let hooks = ServerHooks(
            endpointConditions: { $0([condition]) },
            pause: { name, reason, done in
                calls.withLock { $0.append("pause \(name): \(reason)") }
                done(.success(()))
            },
            resume: { name, done in
                calls.withLock { $0.append("resume \(name)") }
                done(.success(()))
            },
            flush: { name, done in
                calls.withLock { $0.append("flush \(name ?? "all")") }
                done(.success(()))
            },
            reload: { $0(.failure(RPCError(.reloadFailed, "games.d/x.conf:3: nonsense"))) },
            configSettings: {
                $0([
                    EffectiveSetting(
                        name: SettingName(file: "kleosd.conf", section: "Limits", key: "MaxConnections"),
                        value: "1024", source: .standard)
                ])
            })
        server = Server(
            store: store.store, settings: settings, hooks: hooks, clock: store.clock, log: Log(threshold: .error),
            random: SeededGenerator(seed: 1),
            peers: PeerResolver { descriptor throws(SystemError) in
                let real = try UnixSocket.peer(of: descriptor)
                return identity.withLock { $0 } ?? real
            })
        let server = server
        store.store.setChangeHandler { server.publish($0) }
        server.listen(on: [
            try SocketBinding.listen(at: submitPath, role: .submit),
            try SocketBinding.listen(at: controlPath, role: .control),
        ])
    }

    deinit {
        let done = DispatchSemaphore(value: 0)
        server.stop { done.signal() }
        done.wait()
        store.close()
    }

    /// Connects as `uid` and waits until the server has taken the connection in.
    func connect(uid: UInt32 = uid, groups: [UInt32] = [], control: Bool = false) throws -> TestClient {
        identity.withLock { $0 = PeerIdentity(uid: uid, gid: uid, pid: getpid(), groups: groups + [uid]) }
        let client = try TestClient(path: control ? controlPath : submitPath)
        _ = try client.ask("hello")
        return client
    }

    /// Connects as one of the group of administrators.
    func control() throws -> TestClient {
        try connect(uid: 4_713, groups: [Self.gid], control: true)
    }
}

/// A client that sends bytes and reads lines; every wait ends after a generous time.
final class TestClient {
    let descriptor: FileDescriptor
    private var framer = LineFramer(maximumBytes: 2 << 20)
    private var nextID = 1

    init(path: String) throws {
        descriptor = try UnixSocket.connect(to: path)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor.number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends all of `bytes`; false where the server has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor.number, $0.baseAddress.map { $0 + offset }, bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    func sendLine(_ text: String) { send(Array((text + "\n").utf8)) }

    /// The next line; nil at the end of the connection or when nothing comes.
    func line() -> String? {
        while true {
            if case .line(let bytes)? = framer.next() { return String(decoding: bytes, as: UTF8.self) }
            guard let bytes = try? descriptor.read(limitBytes: 65_536), !bytes.isEmpty else { return nil }
            framer.append(bytes)
        }
    }

    /// The next line as JSON.
    func answer() throws -> JSONValue {
        guard let line = line() else { throw Ended() }
        return try JSONParser.parse(Array(line.utf8))
    }

    /// Sends one line and reads one.
    func exchange(_ text: String) throws -> JSONValue {
        sendLine(text)
        return try answer()
    }

    /// Asks and returns the whole answer, notifications that come before it left out.
    func ask(_ method: String, _ parameters: String = "{}") throws -> JSONValue {
        nextID += 1
        sendLine(#"{"jsonrpc":"2.0","id":\#(nextID),"method":"\#(method)","params":\#(parameters)}"#)
        while true {
            let answer = try answer()
            if answer["method"] == nil { return answer }
        }
    }

    func submit(_ parameters: String) throws -> JSONValue { try ask("submit", parameters) }

    struct Ended: Error {}
}

extension JSONValue {
    var reason: String? { self["error"]?["data"]?["reason"]?.stringValue }
    var field: String? { self["error"]?["data"]?["field"]?.stringValue }
    var result: JSONValue? { self["result"] }
}
