/// What one user's connections come to; lives on the server's queue.
final class UserAccount {
    var connections = 0
    /// Requests of all connections that are not answered yet, those of closed ones included.
    var unanswered = 0
    /// The length of those requests.
    var unansweredBytes = 0
    /// Connections that wait for these to fall.
    var blocked: Set<UInt64> = []
    private var allowance: Double?
    private var refilledMilliseconds: Int64 = 0

    var isIdle: Bool { connections == 0 && unanswered == 0 && allowance == nil }

    /// Takes one event from the user's allowance of `perMinute`; false where it is used up.
    func takeEvent(perMinute: Int, nowMilliseconds: Int64) -> Bool {
        let full = Double(perMinute)
        let elapsed = Double(max(0, nowMilliseconds - refilledMilliseconds))
        let available = min(full, (allowance ?? full) + elapsed * full / 60_000)
        refilledMilliseconds = nowMilliseconds
        guard available >= 1 else {
            allowance = available
            return false
        }
        allowance = available - 1
        return true
    }
}
