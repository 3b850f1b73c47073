/// The connections that get the state of the service as it changes, and when they get it.
struct StreamFeed {
    /// More pages than these are turned away.
    static let maximumStreams = 64
    /// From one state to the next.
    static let restMilliseconds: Int64 = 100
    /// A silent stream gets a sign of life after so long.
    static let silenceMilliseconds: Int64 = 15_000

    var streams: [HTTPConnection] = []
    /// The version of the state that went out last.
    var version = -1
    /// No state goes out before this moment.
    var earliestMilliseconds: Int64 = 0
    /// When something is to go out in any case; nil without streams.
    var dueMilliseconds: Int64?
}
