/// Whose turn a piece of work takes: users take turns, and the lanes of one user share that user's.
package struct WorkLane: Hashable, Sendable {
    /// Who has turns.
    enum Owner: Hashable, Sendable {
        case daemon
        case user(UInt32)
    }

    let owner: Owner
    let number: UInt64

    /// The daemon's own work: sending, settling, retention.
    package static let daemon = WorkLane(owner: .daemon, number: 0)

    /// What the user `uid` asks through the connection `connection`.
    package static func user(_ uid: UInt32, connection: UInt64) -> WorkLane {
        WorkLane(owner: .user(uid), number: connection)
    }
}
