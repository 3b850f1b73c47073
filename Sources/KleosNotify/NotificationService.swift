/// The desktop's notification service (org.freedesktop.Notifications); used from one thread.
package final class NotificationService: NoticeDisplay {
    private let bus: SessionBus
    private var capabilities: Set<String> = []
    private var own = OwnBubbles()
    /// Clicks that came while something else was read.
    private var clicks: [DesktopClick] = []

    /// Connects to the session bus and asks the service what it can do, which starts it where it can be started.
    /// Throws `DesktopError`.
    package init() throws(DesktopError) {
        bus = try SessionBus()
        let answer = try bus.call(Self.member("GetCapabilities"), timeoutMilliseconds: Self.timeoutMilliseconds) { _ in
        }
        capabilities = Set(try answer.readTexts())
        try bus.listen(to: Self.name)
        try bus.listen(toOwnerOf: Self.name)
    }

    package func show(_ notification: DesktopNotification, replacing id: UInt32?) throws(DesktopError) -> UInt32 {
        // What the number stood for is gone where the service restarted meanwhile.
        try readSignals()
        let replaced = id.flatMap { own.contains($0) ? $0 : nil } ?? 0
        let capabilities = capabilities
        let timeout = Self.timeoutMilliseconds
        let answer = try bus.call(Self.member("Notify"), timeoutMilliseconds: timeout) { message throws(DesktopError) in
            try message.append(notification.applicationName)
            try message.append(replaced)
            try message.append(notification.icon)
            try message.append(notification.title(capabilities: capabilities))
            try message.append(notification.body(capabilities: capabilities))
            try message.append("a", of: "s") { () throws(DesktopError) in
                guard capabilities.contains("actions") else { return }
                // The key that stands for a click on the bubble itself.
                try message.append(Self.clickAction)
                try message.append(notification.openLabel)
            }
            try message.append("a", of: "{sv}") { () throws(DesktopError) in
                try Self.appendHints(to: message, notification)
            }
            // The service's own time.
            try message.append(Int32(-1))
        }
        let shown = try answer.readNumber()
        own.didShow(shown)
        return shown
    }

    package var descriptor: Int32 { bus.descriptor }

    package func takeClicks() throws(DesktopError) -> [DesktopClick] {
        try readSignals()
        defer { clicks = [] }
        return clicks
    }

    private func readSignals() throws(DesktopError) {
        while let signal = try bus.nextSignal(Self.signals) {
            switch signal.name {
            case SessionBus.ownerChanged:
                if try signal.message.readText() == Self.name { own.forgetAll() }
            // The token, where there is one, comes before the click that it belongs to.
            case Self.token:
                let id = try signal.message.readNumber()
                own.take(token: try signal.message.readText(), of: id)
            default:
                let click = own.click(try signal.message.readNumber())
                if try signal.message.readText() == Self.clickAction, let click { clicks.append(click) }
            }
        }
    }

    private static let clickAction = "default"
    /// Of the service and of its interface.
    private static let name = "org.freedesktop.Notifications"
    private static let token = "ActivationToken"
    private static let signals = [
        (interface: name, name: token), (interface: name, name: "ActionInvoked"),
        (interface: SessionBus.interface, name: SessionBus.ownerChanged),
    ]
    /// As long as D-Bus waits by itself. A service that answers later has shown the notice, and shows it again.
    private static let timeoutMilliseconds: UInt64 = 25_000

    private static func appendHints(
        to message: BusMessage, _ notification: DesktopNotification
    ) throws(DesktopError) {
        try message.append("e", of: "sv") { () throws(DesktopError) in
            try message.append("urgency")
            // 1 is normal: games do not break through "do not disturb".
            try message.append("v", of: "y") { () throws(DesktopError) in try message.append(UInt8(1)) }
        }
        try message.append("e", of: "sv") { () throws(DesktopError) in
            try message.append("category")
            try message.append("v", of: "s") { () throws(DesktopError) in try message.append(notification.category) }
        }
    }

    private static func member(_ name: String) -> SessionBus.Member {
        SessionBus.Member(
            destination: self.name, path: "/org/freedesktop/Notifications", interface: self.name, name: name)
    }
}

/// Something that shows notifications; the desktop, or a recorder in tests.
package protocol NoticeDisplay {
    /// Shows a notification, in place of the one with `id` where there is one; returns its id. Throws `DesktopError`.
    func show(_ notification: DesktopNotification, replacing id: UInt32?) throws(DesktopError) -> UInt32
    /// Readable when clicks may have come.
    var descriptor: Int32 { get }
    /// Takes the clicks that came. Throws `DesktopError` where the service is gone.
    func takeClicks() throws(DesktopError) -> [DesktopClick]
}

/// A click on a notification.
package struct DesktopClick: Sendable, Equatable {
    /// The notification's id.
    package var id: UInt32
    /// What lets a window come to the front (xdg-activation); nil where the desktop gave none.
    package var activationToken: String?
}
