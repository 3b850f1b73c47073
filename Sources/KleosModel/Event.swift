package import KleosSupport

/// What a game submitted, with when and by whom; never changes once accepted.
package struct Event: Sendable, Equatable {
    /// The daemon's id of the event.
    package var key: EventKey
    /// The client's own id, 1 … 128 bytes of UTF-8; unique within (submitting user, game).
    package var clientID: String?
    /// The game's id.
    package var game: String
    /// The player, opaque; compared byte by byte.
    package var player: String
    /// What happened.
    package var subject: Subject
    /// When it happened as the game says, Unix milliseconds; nil means when it was recorded.
    package var occurredAtMilliseconds: Int64?
    /// Whether that time was put in for a game that named none, so that an event with another time may be the same.
    package private(set) var isTimeAssumed = false
    /// Whether it waited in the spool, so that newer events may have been recorded before it; not kept.
    package private(set) var isFromSpool = false
    /// The game's own JSON object, the bytes as they came.
    package var metadata: [UInt8]?
    /// The clocks when the event was accepted.
    package var recorded: ClockReading
    /// Who submitted it.
    package var submitter: Submitter

    /// Makes an event from its parts.
    package init(
        key: EventKey, clientID: String?, game: String, player: String, subject: Subject,
        occurredAtMilliseconds: Int64?, metadata: [UInt8]?, recorded: ClockReading, submitter: Submitter
    ) {
        self.key = key
        self.clientID = clientID
        self.game = game
        self.player = player
        self.subject = subject
        self.occurredAtMilliseconds = occurredAtMilliseconds
        self.metadata = metadata
        self.recorded = recorded
        self.submitter = submitter
    }

    /// Says that the event waited in the spool.
    package mutating func waitedInSpool() {
        isFromSpool = true
    }

    /// Says when a client took the event over, which is its time if it names none; nil where nobody knows.
    package mutating func wasTakenOver(atMilliseconds milliseconds: Int64?) {
        guard occurredAtMilliseconds == nil, let milliseconds else { return }
        occurredAtMilliseconds = milliseconds
        isTimeAssumed = true
    }

    /// When it happened: as the game says, else when it was recorded; Unix milliseconds.
    package var effectiveTimeMilliseconds: Int64 {
        occurredAtMilliseconds ?? recorded.wallMilliseconds
    }
}

/// The process that handed an event over, as the kernel told at that moment.
package struct Submitter: Sendable, Equatable {
    /// User id.
    package var uid: UInt32
    /// Process id; meaningful only at that moment.
    package var pid: Int32
    /// Path of the executable, where it could be read.
    package var executable: String?
    /// systemd unit of the process, where it has one.
    package var unit: String?

    /// Makes a submitter from its parts.
    package init(uid: UInt32, pid: Int32, executable: String? = nil, unit: String? = nil) {
        self.uid = uid
        self.pid = pid
        self.executable = executable
        self.unit = unit
    }
}
