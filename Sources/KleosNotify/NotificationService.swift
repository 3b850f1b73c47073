/// The desktop's notification service (org.freedesktop.Notifications); used from one thread.
package final class NotificationService: NoticeDisplay {
    private let bus: SessionBus
    private var capabilities: Set<String> = []
    private var tokens: [UInt32: String] = [:]

    /// Connects to the session bus and asks the service what it can do, which starts it where it can be started.
    /// Throws `DesktopError`.
    package init() throws(DesktopError) {
        bus = try SessionBus()
        let answer = try bus.call(Self.member("GetCapabilities"), timeoutMilliseconds: Self.timeoutMilliseconds) { _ in
        }
        capabilities = Set(try answer.readTexts())
        try bus.listen(to: Self.interface)
    }

    package func show(_ notification: DesktopNotification, replacing id: UInt32?) throws(DesktopError) -> UInt32 {
        let capabilities = capabilities
        let timeout = Self.timeoutMilliseconds
        let answer = try bus.call(Self.member("Notify"), timeoutMilliseconds: timeout) { message throws(DesktopError) in
            try message.append(notification.applicationName)
            try message.append(id ?? 0)
            try message.append(notification.icon)
            try message.append(notification.title(capabilities: capabilities))
            try message.append(notification.body(capabilities: capabilities))
            try message.append("a", of: "s") { () throws(DesktopError) in
                guard capabilities.contains("actions") else { return }
                // The key that stands for a click on the bubble itself.
                try message.append(Self.clickAction)
                try message.append("Open \(notification.applicationName)")
            }
            try message.append("a", of: "{sv}") { () throws(DesktopError) in
                try Self.appendHints(to: message, notification)
            }
            // The service's own time.
            try message.append(Int32(-1))
        }
        return try answer.readNumber()
    }

    package var descriptor: Int32 { bus.descriptor }

    package func takeClicks() throws(DesktopError) -> [DesktopClick] {
        var clicks: [DesktopClick] = []
        while let signal = try bus.nextSignal(of: Self.interface, names: ["ActivationToken", "ActionInvoked"]) {
            let id = try signal.message.readNumber()
            let text = try signal.message.readText()
            // The token, where there is one, comes before the click that it belongs to.
            if signal.name == "ActivationToken" {
                tokens[id] = text
            } else if text == Self.clickAction {
                clicks.append(DesktopClick(id: id, activationToken: tokens.removeValue(forKey: id)))
            }
        }
        return clicks
    }

    private static let clickAction = "default"
    private static let interface = "org.freedesktop.Notifications"
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
            destination: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
            interface: interface, name: name)
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
