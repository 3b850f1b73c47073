import KleosJSON
import KleosModel
import KleosSupport
import KleosWire

/// A game's connection to the kleos daemon.
///
/// Every method but `waitUntilIdle` returns at once, so that no frame of a game waits for a socket or a disk; the work
/// is done on a queue of the client's own, and completions are called there. The client connects by itself, connects
/// again when the daemon restarts, and repeats what was not answered under the id that it had, so that an event counts
/// once. What no daemon takes in time goes to the daemon's spool: on disk, and taken in when the daemon runs.
///
/// ```swift
/// let kleos = KleosClient(game: "minesweeper", player: "mira")
/// kleos.submitScore(8_080, leaderboard: "beginner") { result in
///     print(result)
/// }
/// ```
public final class KleosClient: Sendable {
    private let game: String
    private let player: String?
    let session: ClientSession

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - game: the game's id, as its file names it.
    ///   - player: the player of all submissions that name no other; nil for the game's `Player=`.
    ///   - socketPath: the daemon's socket; nil to look where daemons usually listen (`KLEOS_SOCKET`, the user's own,
    ///     the system's).
    ///   - spoolFolder: where events go that no daemon takes; nil for the spools of those daemons (`KLEOS_SPOOL`). A
    ///     folder that is not there is not made: events are then kept in memory until a daemon answers, and so they are
    ///     where the disk is full.
    ///   - requestTimeoutMilliseconds: how long a daemon has for an answer, at least 1.
    public init(
        game: String, player: String? = nil, socketPath: String? = nil, spoolFolder: String? = nil,
        requestTimeoutMilliseconds: Int = 10_000
    ) {
        self.game = game
        self.player = player
        session = ClientSession(
            candidates: socketPath.map { [$0] } ?? KleosSocketPaths.candidates(),
            requestTimeoutMilliseconds: Int64(max(1, requestTimeoutMilliseconds)), spoolFolder: spoolFolder)
    }

    /// Connects now rather than with the first request, and tells which daemon answers.
    ///
    /// - Parameter completion: called once, with `KleosError.timedOut` where no daemon answers in time; the client
    ///   goes on trying.
    public func connect(completion: (@Sendable (Result<KleosDaemonInfo, KleosError>) -> Void)? = nil) {
        send(.hello, JSONObject()) { result in
            completion?(result.map { KleosDaemonInfo(HelloAnswer(json: $0)) })
        }
    }

    deinit {
        session.async { $0.close() }
    }

    /// Hands over a score.
    ///
    /// - Parameters:
    ///   - value: the score, in the leaderboard's unit.
    ///   - player: another player than the client's.
    ///   - occurredAtMilliseconds: when it happened, Unix milliseconds; nil for now.
    ///   - metadata: a JSON object that goes along to the endpoint.
    ///   - completion: called once, when the event is on disk (the receipt's state says where) or was refused.
    public func submitScore(
        _ value: Int64, leaderboard: String, player: String? = nil, occurredAtMilliseconds: Int64? = nil,
        metadata: String? = nil, completion: (@Sendable (Result<SubmitReceipt, KleosError>) -> Void)? = nil
    ) {
        submitScore(
            String(value), leaderboard: leaderboard, player: player, occurredAtMilliseconds: occurredAtMilliseconds,
            metadata: metadata, completion: completion)
    }

    /// Hands over a score in decimal form, for leaderboards with decimals.
    public func submitScore(
        _ value: String, leaderboard: String, player: String? = nil, occurredAtMilliseconds: Int64? = nil,
        metadata: String? = nil, completion: (@Sendable (Result<SubmitReceipt, KleosError>) -> Void)? = nil
    ) {
        submit(
            Submission(
                kind: .score, game: game, player: player ?? self.player, leaderboard: leaderboard, value: value,
                occurredAtMilliseconds: occurredAtMilliseconds, metadata: metadata.map { Array($0.utf8) }),
            completion)
    }

    /// Hands over how far an achievement came.
    ///
    /// - Parameters:
    ///   - progress: how far, `.unlocked` by default.
    ///   - player: another player than the client's.
    ///   - occurredAtMilliseconds: when it happened, Unix milliseconds; nil for now.
    ///   - metadata: a JSON object that goes along to the endpoint.
    ///   - completion: called once, when the event is on disk (the receipt's state says where) or was refused.
    public func submitAchievement(
        _ achievement: String, progress: AchievementProgress = .unlocked, player: String? = nil,
        occurredAtMilliseconds: Int64? = nil, metadata: String? = nil,
        completion: (@Sendable (Result<SubmitReceipt, KleosError>) -> Void)? = nil
    ) {
        var submission = Submission(
            kind: .achievement, game: game, player: player ?? self.player, achievement: achievement,
            occurredAtMilliseconds: occurredAtMilliseconds, metadata: metadata.map { Array($0.utf8) })
        switch progress {
        case .unlocked: submission.progress = 100
        case .percent(let percent): submission.progress = Int64(percent)
        case .steps(let count): submission.steps = count
        case .increment(let count): submission.increment = count
        }
        submit(submission, completion)
    }

    private func submit(
        _ submission: Submission, _ completion: (@Sendable (Result<SubmitReceipt, KleosError>) -> Void)?
    ) {
        var submission = submission
        let now = SystemClock().read().wallMilliseconds
        let id = Self.newID(wallMilliseconds: now)
        submission.clientID = id
        // The daemon may be away for days, and would take the time of its return.
        submission.occurredAtMilliseconds = submission.occurredAtMilliseconds ?? now
        if let metadata = submission.metadata, !Self.isObject(metadata) {
            // As it stands it would spoil the whole line, which then has no id that an answer could name.
            let message = "metadata must be a JSON object, nested at most \(Self.metadataDepth) deep"
            let reason = ErrorReason.invalidParameter.rawValue
            session.async { _ in
                completion?(.failure(.refused(reason: reason, message: message, field: "metadata")))
            }
            return
        }
        session.async { [submission] session in
            session.submit(submission) { completion?($0.flatMap { Self.receipt($0, id: id) }) }
        }
    }

    private static func receipt(_ reply: PendingRequest.Reply, id: String) -> Result<SubmitReceipt, KleosError> {
        switch reply {
        case .spooled(let path): return .success(SubmitReceipt(spooledAs: id, in: path))
        case .answer(let value):
            guard let answer = SubmitAnswer(json: value) else { return .failure(.malformed(value.serialized)) }
            return .success(SubmitReceipt(answer, id: id))
        }
    }

    private static func newID(wallMilliseconds: Int64) -> String {
        var random = SeededGenerator.unpredictable()
        return EventKey.version7(wallMilliseconds: wallMilliseconds, random: &random).description
    }

    /// The request and its parameters are two levels of the daemon's limit.
    private static let metadataDepth = Limits.jsonDepth - 2

    private static func isObject(_ metadata: [UInt8]) -> Bool {
        let limits = JSONLimits(depth: metadataDepth, maximumBytes: metadata.count)
        // What is wrong with it is said in the refusal.
        return (try? JSONParser.parse(metadata, limits: limits))?.objectValue != nil
    }

    /// Asks how far the player is; ask before awarding something that the player may have already.
    public func standing(
        leaderboard: String? = nil, achievement: String? = nil, player: String? = nil,
        completion: @escaping @Sendable (Result<[KleosStanding], KleosError>) -> Void
    ) {
        let parameters = StandingParameters(
            game: game, player: player ?? self.player, leaderboard: leaderboard, achievement: achievement)
        send(.standing, parameters.parameters) { result in
            completion(result.map { StandingAnswer(json: $0).standings.map(KleosStanding.init) })
        }
    }

    /// Brings the game's own catalog to the player's own daemon; a game does so each time that it starts. The system's
    /// daemon refuses it, since its administrator decides what is there to be won.
    ///
    /// - Parameters:
    ///   - catalog: the text of a file as in `games.d`, without `Endpoints=` and who may submit.
    ///   - completion: called once, with what became of it, or with every mistake in it.
    public func register(
        catalog: String, completion: @escaping @Sendable (Result<KleosRegistration, KleosError>) -> Void
    ) {
        send(.register, RegisterParameters(catalog: catalog).parameters) { result in
            completion(
                result.flatMap { value in
                    RegisterAnswer(json: value).map { .success(KleosRegistration($0.state)) }
                        ?? .failure(.malformed(value.serialized))
                })
        }
    }

    /// Tells whether the game is in front of the player, so that notices reach it rather than the desktop.
    public func setForeground(_ isForeground: Bool, player: String? = nil) {
        let parameters = PresenceParameters(
            game: game, player: player ?? self.player, state: isForeground ? .foreground : .background)
        session.async { $0.setPresence(parameters) }
    }

    /// Calls `handler` for each notice of this game, from now on and over reconnects. When it returns, the notice
    /// counts as shown, and nobody else shows it. A second handler replaces the first.
    public func onNotice(_ handler: @escaping @Sendable (KleosNotice) -> Void) {
        let game = game
        session.async { $0.setNoticeHandler(game: game) { handler(KleosNotice($0)) } }
    }

    /// Calls `handler` for each step of this game's events of this user on their way to an endpoint, from now on and
    /// over reconnects; what happens while there is no connection is not told. A second handler replaces the first.
    public func onDelivery(_ handler: @escaping @Sendable (KleosDelivery) -> Void) {
        let game = game
        session.async { $0.setDeliveryHandler(game: game) { handler(KleosDelivery($0)) } }
    }

    /// Calls `handler` when the player follows a notice while the game runs: bring the window forward, and show what
    /// the notice was about. Needs `setForeground` and `onNotice`, which tell the daemon that the game runs and
    /// listens.
    public func onOpen(_ handler: @escaping @Sendable (KleosOpenRequest) -> Void) {
        session.async { $0.setOpenHandler { handler(KleosOpenRequest($0)) } }
    }

    /// Waits until everything handed over has been answered or spooled; false where that took longer than
    /// `timeoutMilliseconds`. For tools; never call it from a completion, nor where a frame waits.
    public func waitUntilIdle(timeoutMilliseconds: Int) -> Bool {
        session.waitUntilIdle(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Ends the connection. Events that have no answer are spooled; where there is no spool or it takes none, they
    /// complete with `KleosError.unanswered`, which says why, as all other requests do.
    public func close() {
        session.async { $0.close() }
    }

    /// Lets what was handed over be answered, for at most `timeoutMilliseconds`, then ends the connection as `close`
    /// does. For the end of a game: keep the process until the completion.
    ///
    /// - Parameter completion: called once, on the client's queue: true where every event is on disk.
    public func close(
        draining timeoutMilliseconds: Int, completion: @escaping @Sendable (_ isEverythingSafe: Bool) -> Void
    ) {
        session.async { session in
            session.close(draining: Int64(max(0, timeoutMilliseconds)), completion)
        }
    }

    private func send(
        _ method: Method, _ parameters: JSONObject,
        completion: @escaping @Sendable (Result<JSONValue, KleosError>) -> Void
    ) {
        session.async { $0.enqueue(method, parameters, completion) }
    }
}

/// How far an achievement came.
public enum AchievementProgress: Sendable, Equatable {
    /// All the way.
    case unlocked
    /// So many percent, 0 … 100.
    case percent(Int)
    /// So many steps, counted from the start.
    case steps(Int64)
    /// So many more steps.
    case increment(Int64)
}
