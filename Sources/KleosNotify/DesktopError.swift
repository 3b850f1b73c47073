/// Why nothing can be shown on the desktop.
package enum DesktopError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no session bus, no notification service or no libsystemd; it may come later.
    case unavailable(String)
    /// The notification service answered with an error.
    case refused(String)

    package var description: String {
        switch self {
        case .unavailable(let text), .refused(let text): text
        }
    }
}
