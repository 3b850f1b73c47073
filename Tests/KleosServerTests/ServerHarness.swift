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
    private let settings: ServerSettings
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
        limits: ConnectionLimits = ConnectionLimits(), intake: IntakeLimits = IntakeLimits(),
        stallTimeoutMilliseconds: Int = 30_000,
        notices: NoticeRoutes = NoticeRoutes(), noticeClaimMilliseconds: Int64 = 60_000,
        condition: EndpointCondition = EndpointCondition(name: "home", url: "http://127.0.0.1:1", kind: .up),
        daemonUID: UInt32 = 990
    ) throws {
        store = try TemporaryStore()
        let identity = identity
        var settings = ServerSettings(
            games: Dictionary(uniqueKeysWithValues: Self.games.map { ($0.id, $0) }),
            endpoints: ["home": Endpoint(name: "home", url: "http://127.0.0.1:1")], limits: limits,
            controlGID: Self.gid, daemonUID: daemonUID, stallTimeoutMilliseconds: stallTimeoutMilliseconds,
            notices: notices, noticeClaimMilliseconds: noticeClaimMilliseconds)
        settings.intake = intake
        self.settings = settings
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
            register: { catalog, done in
                calls.withLock { $0.append("register \(catalog)") }
                done(.success(RegisterAnswer(game: "g", state: .registered, leaderboards: 1, achievements: 2)))
            },
            configSettings: {
                $0([
                    EffectiveSetting(
                        name: SettingName(file: "kleosd.conf", section: "Limits", key: "MaxConnections"),
                        value: "1024", source: .standard)
                ])
            })
        server = try Server(
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

    /// Puts other limits in the place of those that were.
    func configure(limits: ConnectionLimits) {
        var changed = settings
        changed.limits = limits
        server.configure(changed)
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
