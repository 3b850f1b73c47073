package import KleosModel

/// What is shown as one bubble on the desktop.
package struct DesktopNotification: Sendable, Equatable {
    /// Who tells: the game's title.
    package var applicationName: String
    /// An icon's name in the desktop's theme.
    package var icon: String
    package var text: NoticeText
    /// A category of the specification's vendor kind.
    package var category: String

    /// Makes a notification about one event of `kind`, or about several where that is nil.
    package init(text: NoticeText, kind: SubjectKind?) {
        applicationName = text.gameTitle
        icon = "applications-games"
        self.text = text
        category = kind.map { "x-kleos.\($0.rawValue)" } ?? "x-kleos.digest"
    }

    /// What is written on the action that leads to the game.
    package var openLabel: String { text.openLabel ?? "Open \(text.gameTitle)" }

    /// The body for a service with these capabilities: escaped where it reads markup, else as it is; where it shows
    /// no body, empty.
    package func body(capabilities: Set<String>) -> String {
        guard capabilities.contains("body") else { return "" }
        return capabilities.contains("body-markup") ? Self.escaped(text.body) : text.body
    }

    /// The title; where the service shows no body, the body's first line goes with it.
    package func title(capabilities: Set<String>) -> String {
        guard !capabilities.contains("body"), let line = text.body.split(separator: "\n").first else {
            return text.title
        }
        return "\(text.title) – \(line)"
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
        return result
    }
}
