package import KleosModel

/// Everything that the configuration files say, checked as a whole; it never changes, a reload makes a new one.
package struct Configuration: Sendable {
    package var daemon: DaemonSettings
    /// By id.
    package var games: [String: Game]
    /// By name.
    package var endpoints: [String: Endpoint]
    /// Each setting's effective value and where it came from, in the order of the files and of their reference.
    package var settings: [EffectiveSetting]
    /// What is worth an administrator's eye without being an error.
    package var warnings: [ConfigurationProblem]

    /// Makes a configuration from its parts.
    package init(
        daemon: DaemonSettings = DaemonSettings(), games: [Game] = [], endpoints: [Endpoint] = [],
        settings: [EffectiveSetting] = [], warnings: [ConfigurationProblem] = []
    ) {
        self.daemon = daemon
        self.games = Dictionary(games.map { ($0.id, $0) }) { _, last in last }
        self.endpoints = Dictionary(endpoints.map { ($0.name, $0) }) { _, last in last }
        self.settings = settings
        self.warnings = warnings
    }

    /// Each setting whose value differs from `old`'s, those that went away last; a secret that changed says only that.
    /// Defaults of sections that came or went are no changes.
    package func changes(from old: Configuration) -> [SettingChange] {
        let before = Dictionary(old.settings.map { ($0.name, $0.value) }) { _, last in last }
        let now = Set(settings.map(\.name))
        let changed = settings.compactMap { setting -> SettingChange? in
            guard let value = before[setting.name] else {
                return setting.source == .standard ? nil : SettingChange(name: setting.name, new: setting.value)
            }
            let isNewSecret = setting.isSecret && hasOtherSecret(than: old, file: setting.file)
            return value == setting.value && !isNewSecret
                ? nil : SettingChange(name: setting.name, old: value, new: setting.value)
        }
        let gone = old.settings.filter { !now.contains($0.name) && $0.source != .standard }
        return changed + gone.map { SettingChange(name: $0.name, old: $0.value) }
    }

    private func hasOtherSecret(than old: Configuration, file: String) -> Bool {
        let name = settings.first { $0.file == file && $0.key == EndpointFile.name.key }?.value ?? ""
        return endpoints[name]?.token != old.endpoints[name]?.token
    }
}
