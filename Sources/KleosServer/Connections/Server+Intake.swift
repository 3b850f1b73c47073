import KleosConfig

// How much is read before answers are out.

extension Server {
    /// Requests are taken up only while less output than this waits, so that pushes and answers under way fit, too.
    private static let outputMarkBytes = 262_144
    /// Requests under way whose answers may be large.
    private static let maximumHeavy = 2
    /// One user's connections together have at most so many times the unanswered requests of one.
    private static let userShare = 4

    /// Whether another request of the connection may be taken up. One that was blocked waits for some room, so that it
    /// goes on with more than a line.
    func mayProcess(_ connection: Connection) -> Bool {
        let eases = connection.isBlocked
        return !connection.isClosing
            && connection.unanswered < Self.mark(settings.limits.maximumUnanswered, eases: eases)
            && connection.unansweredBytes < Self.mark(settings.intake.connectionBytes, eases: eases)
            && connection.unansweredHeavy < Self.maximumHeavy
            && connection.output.count < min(Self.outputMarkBytes, settings.limits.outputLimitBytes)
            && !isOverShare(connection.user, eases: eases)
    }

    /// Bytes of requests that the connection may still send before it has to wait, as things are.
    func room(of connection: Connection) -> Int {
        min(
            settings.intake.connectionBytes - connection.unansweredBytes,
            settings.intake.userBytes - connection.user.unansweredBytes)
    }

    /// Has a blocked connection looked at again when its user's others have their answers, which tell it nothing
    /// themselves.
    func waitForShare(_ connection: Connection) {
        if isOverShare(connection.user, eases: true) { connection.user.blocked.insert(connection.id) }
    }

    private func isOverShare(_ user: UserAccount, eases: Bool) -> Bool {
        let limits = settings.intake
        return user.unanswered >= Self.mark(settings.limits.maximumUnanswered * Self.userShare, eases: eases)
            || user.unansweredBytes >= Self.mark(limits.userBytes, eases: eases)
            || (intake.bytes >= Self.mark(limits.totalBytes, eases: eases) && user.unansweredBytes >= limits.floorBytes)
    }

    /// Where a limit begins to hold back, and, once it did, where it ceases to.
    private static func mark(_ limit: Int, eases: Bool) -> Int { eases ? limit - limit / 4 : limit }

    /// The account of a user, made where there is none.
    func account(of uid: UInt32) -> UserAccount {
        if let user = users[uid] { return user }
        let user = UserAccount()
        users[uid] = user
        return user
    }

    /// Puts a request of `bytes` on the accounts of its connection and user.
    func openAccount(_ connection: Connection, bytes: Int) {
        connection.unanswered += 1
        connection.unansweredBytes += bytes
        connection.user.unanswered += 1
        connection.user.unansweredBytes += bytes
        intake.add(bytes)
    }

    /// Takes `count` answered requests of `bytes` together off the accounts of their connection and user, and lets
    /// connections that waited for that go on.
    func settleAccount(of id: UInt64, uid: UInt32, count: Int, bytes: Int) {
        if let connection = connections[id] {
            connection.unanswered -= count
            connection.unansweredBytes -= bytes
            markDirty(connection)
        }
        let mark = Self.mark(settings.intake.totalBytes, eases: true)
        let isRelief = intake.bytes >= mark && intake.bytes - bytes < mark
        intake.remove(bytes)
        guard let user = users[uid] else { return }
        user.unanswered -= count
        user.unansweredBytes -= bytes
        releaseBlocked(of: user)
        if isRelief { for other in users.values { releaseBlocked(of: other) } }
        forgetIfIdle(uid)
    }

    private func releaseBlocked(of user: UserAccount) {
        guard !user.blocked.isEmpty, !isOverShare(user, eases: true) else { return }
        let released = user.blocked
        user.blocked = []
        for id in released { connections[id].map(markDirty) }
    }
}
