import KleosModel
import KleosStore
import KleosSupport
import KleosWire

/// One client; lives on the server's queue.
final class Connection {
    let id: UInt64
    let role: SocketRole
    let peer: PeerIdentity
    let user: UserAccount
    let descriptor: FileDescriptor
    let watch: SocketWatch

    var framer = LineFramer(maximumBytes: Limits.requestBytes)
    var output = OutputBuffer()
    /// Requests that are not answered yet.
    var unanswered = 0
    /// Their length.
    var unansweredBytes = 0
    /// Those of them whose answers may be large.
    var unansweredHeavy = 0
    /// Submissions of this turn, handed to the store together.
    var bundle = SubmitBundle()
    var batches: [UInt64: BatchAnswer] = [:]
    var subscription: Subscription?
    var presence: Presence?

    /// Whether lines may wait in the framer because a limit was reached.
    var isBlocked = false
    /// Whether it waits for its turn to have its lines taken up.
    var isWaiting = false
    /// Whether the peer sends nothing more.
    var hasEnded = false
    /// Whether it is closed as soon as its output is written.
    var isClosing = false
    var isClosed = false
    /// Whether a timer looks after the progress of its output.
    var isWatched = false
    /// Whether it stands in the list of connections that have something to write.
    var isDirty = false

    /// Who submits, asked of /proc when first needed.
    private(set) lazy var submitter: Submitter = {
        let details = ProcessDetails.read(of: peer, through: descriptor)
        return Submitter(uid: peer.uid, pid: peer.pid, executable: details.executable, unit: details.unit)
    }()

    init(
        id: UInt64, role: SocketRole, peer: PeerIdentity, user: UserAccount, descriptor: FileDescriptor,
        watch: SocketWatch
    ) {
        self.id = id
        self.role = role
        self.peer = peer
        self.user = user
        self.descriptor = descriptor
        self.watch = watch
    }

    /// Where its work for the store waits.
    var lane: WorkLane { .user(peer.uid, connection: id) }

    /// The user whose events the client may see; nil for all.
    var visibleUID: UInt32? { role == .control ? nil : peer.uid }
}
