/// Where a setting's value came from.
package enum SettingSource: Sendable, Equatable, CustomStringConvertible {
    /// No file sets it.
    case standard
    /// A line of a file, lines counted from 1.
    case line(file: String, number: Int)
    /// A file that holds nothing but the value.
    case file(String)

    /// `default`, `FILE:LINE` or `FILE`.
    package var description: String {
        switch self {
        case .standard: "default"
        case .line(let file, let number): "\(file):\(number)"
        case .file(let path): path
        }
    }
}

/// Names one setting: the file as it is called in every folder of the search path, the section, the key.
package struct SettingName: Sendable, Hashable, CustomStringConvertible {
    /// `kleosd.conf`, `games.d/minesweeper.conf`, `endpoints.d/home.conf`.
    package var file: String
    /// As in the brackets: `Storage`, `Leaderboard beginner`.
    package var section: String
    /// As left of the equals sign, a translation's language included: `Title[de]`.
    package var key: String

    /// Makes a name from its parts.
    package init(file: String, section: String, key: String) {
        self.file = file
        self.section = section
        self.key = key
    }

    /// `FILE [SECTION] KEY`.
    package var description: String { "\(file) [\(section)] \(key)" }
}

/// A setting's value in effect, and where it came from.
package struct EffectiveSetting: Sendable, Equatable {
    package var name: SettingName
    /// As a file would spell it; `(secret)` where it is one.
    package var value: String
    package var source: SettingSource
    package var isSecret: Bool

    /// Makes a setting from its parts; a secret's `value` must not be the secret.
    package init(name: SettingName, value: String, source: SettingSource, isSecret: Bool = false) {
        self.name = name
        self.value = value
        self.source = source
        self.isSecret = isSecret
    }

    package var file: String { name.file }
    package var section: String { name.section }
    package var key: String { name.key }
}

/// One setting that a reload changed.
package struct SettingChange: Sendable, Equatable, CustomStringConvertible {
    package var name: SettingName
    /// Nil where the setting is new.
    package var old: String?
    /// Nil where the setting went away.
    package var new: String?

    /// Makes a change from its parts.
    package init(name: SettingName, old: String? = nil, new: String? = nil) {
        self.name = name
        self.old = old
        self.new = new
    }

    /// `FILE [SECTION] KEY: OLD → NEW`.
    package var description: String {
        "\(name): \(old.map { "\"\($0)\"" } ?? "unset") → \(new.map { "\"\($0)\"" } ?? "unset")"
    }
}
