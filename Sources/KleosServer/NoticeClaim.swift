import Dispatch
import KleosModel

/// Notices that a route holds, and the timer that takes them back; lives on the server's queue.
final class NoticeClaim {
    let route: String
    let uid: UInt32
    let timer: any DispatchSourceTimer
    /// Those that are not acknowledged yet.
    var numbers: Set<Int64>

    init(route: String, uid: UInt32, numbers: Set<Int64>, timer: any DispatchSourceTimer) {
        self.route = route
        self.uid = uid
        self.numbers = numbers
        self.timer = timer
    }

    deinit { timer.cancel() }
}
