import Glibc
import KleosConfig
import KleosSupport
import Testing

/// The shipped texts that are made from the settings' declarations. After a change of a declaration, run these tests
/// once with KLEOS_UPDATE_FILES=1 to write the files anew.
@Suite struct ReferenceTests {
    private func check(_ path: String, _ expected: (String) -> String) throws {
        let path = "\(ShippedFiles.root)/\(path)"
        let found = try SmallFile.readText(at: path)
        if Environment["KLEOS_UPDATE_FILES"] != nil {
            try SmallFile.replace(path, with: Array(expected(found).utf8), mode: 0o644)
        } else {
            #expect(found == expected(found), "set KLEOS_UPDATE_FILES=1 to write \(path) anew")
        }
    }

    @Test func shippedDaemonFileListsEverySettingAtItsDefault() throws {
        try check("config/kleosd.conf") { _ in SettingsReference.commentedFile(DaemonFile.definition) }
    }

    @Test func documentationEndsWithTheReference() throws {
        try check("docs/configuration.md") { found in
            let start = found.ranges(of: "# Reference\n").first?.upperBound ?? found.endIndex
            return found[..<start] + "\n" + SettingsReference.markdown
        }
    }

    @Test func everyCommentedSettingIsAcceptedWithoutItsCommentSign() throws {
        let text = SettingsReference.commentedFile(DaemonFile.definition)
        let lines = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") ? line.dropFirst() : line
        }
        let folder = try ConfigurationFolder(["kleosd.conf": lines.joined(separator: "\n")])
        let configuration = try folder.load(kind: .system, folders: ["."])
        let bare = try ConfigurationFolder([:]).load(kind: .system, folders: ["."])
        #expect(configuration.daemon == bare.daemon)
        let set = configuration.settings.filter { $0.source != .standard }.map(\.key)
        #expect(
            set.count == configuration.settings.count - 2,
            "all but Command= and LoopbackPort=, whose defaults are empty: \(set)")
    }

    @Test(arguments: [DaemonFile.definition, GameFile.definition, EndpointFile.definition])
    func everyKeyIsDocumented(definition: FileDefinition) throws {
        let text = try SmallFile.readText(at: "\(ShippedFiles.root)/docs/configuration.md")
        for section in definition.sections {
            #expect(text.contains("### [\(section.name)"))
            for setting in section.settings { #expect(text.contains("| `\(setting.key)=`"), "\(setting.key)") }
        }
    }
}
