import Synchronization

/// A flag that says that something has been asked for and has not happened yet.
final class Pending: Sendable {
    private let flag = Atomic(false)

    /// Asks; false where it had been asked for already.
    func begin() -> Bool {
        !flag.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// It happens now.
    func end() {
        flag.store(false, ordering: .releasing)
    }
}
