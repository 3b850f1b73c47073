/// Texts about settings, made from their declarations.
package enum SettingsReference {
    /// A file with every setting of `definition` at its default behind a comment sign, which reads as no setting.
    package static func commentedFile(_ definition: FileDefinition) -> String {
        var lines = comment(
            "\(definition.name): \(definition.documentation) Each setting stands here at its default. To change one, "
                + "remove the # before it, or better set it in a file of your own in \(definition.name).d/, which "
                + "updates leave alone. \"kleos config check\" says whether all is well, \"kleos reload\" applies it.")
        for section in definition.sections {
            lines += ["", "[\(section.title)]"] + comment(section.documentation)
            for setting in section.settings {
                lines += [""] + comment(setting.documentation) + comment("Value: \(setting.expectation)")
                lines.append("#\(setting.key)=\(setting.standard)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The reference of all kinds of files, in Markdown.
    package static var markdown: String {
        [DaemonFile.definition, GameFile.definition, EndpointFile.definition].map(markdown).joined(separator: "\n")
    }

    private static func markdown(_ definition: FileDefinition) -> String {
        var lines = ["## \(definition.name)", "", definition.documentation]
        for section in definition.sections {
            lines += ["", "### [\(section.title)]", "", section.documentation, ""]
            lines += ["| Key | Default | Value | Meaning |", "|---|---|---|---|"]
            lines += section.settings.map { setting in
                let standard = setting.standard.isEmpty ? "" : "`\(setting.standard)`"
                let name = setting.shape == .translated ? "\(setting.key)=`, `\(setting.key)[de]=" : "\(setting.key)="
                let parts = [
                    "`\(name)`", setting.standardNote ?? (setting.isRequired ? "required" : standard),
                    setting.expectation, setting.documentation,
                ]
                return "| \(parts.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `text` as comment lines of at most 100 characters.
    private static func comment(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "#"
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > 100 {
                lines.append(line)
                line = "#"
            }
            line += " \(word)"
        }
        return lines + [line]
    }
}

extension SectionDefinition {
    /// As between the brackets, with a placeholder for the id.
    var title: String { argument.map { "\(name) \($0)" } ?? name }
}
