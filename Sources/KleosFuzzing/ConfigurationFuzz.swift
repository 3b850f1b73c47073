import Glibc
import KleosConfig
import KleosSupport
import KleosTestSupport

/// A folder of configuration files in one text: a line `%% NAME` begins each file, what stands before the first such
/// line is a game's. Files that the text leaves out are there with as little as they need.
enum ConfigurationFuzz {
    private static let names = [
        "kleosd.conf", "kleosd.conf.d/50.conf", "games.d/g.conf", "games.d/g.conf.d/50.conf", "games.d/h.conf",
        "endpoints.d/home.conf", "endpoints.d/home.conf.d/50.conf",
    ]
    private static let secret = "open-sesame-7f3a"

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        // What is wrong with a game's own catalog is thrown; that nothing else happens is what this looks at.
        _ = try? RegisteredGames.check(bytes, kind: .user, destinations: ["home"])
        var files = split(bytes)
        if files["endpoints.d/home.conf"] == nil {
            files["endpoints.d/home.conf"] = Array("[Endpoint]\nURL=https://a.example\n".utf8)
        }
        let folder = try folder(files)
        switch load(folder) {
        case .failure(let errors): try check(errors, files, folder)
        case .success(let configuration):
            try check(configuration.settings, input: bytes)
            try survivesWriting(configuration, in: folder)
        }
    }

    private static func split(_ bytes: [UInt8]) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var name = "games.d/g.conf"
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.starts(with: "%% ".utf8) {
                let wanted = String(decoding: line.dropFirst(3), as: UTF8.self)
                name = names.first { $0 == wanted } ?? name
                files[name] = files[name] ?? []
            } else {
                files[name, default: []] += line + [0x0A]
            }
        }
        return files
    }

    private static func folder(_ files: [String: [UInt8]]) throws(FuzzFailure) -> TemporaryFolder {
        do throws(SystemError) {
            let folder = try TemporaryFolder(prefix: "kleos-fuzz")
            try write("token", Array(secret.utf8), in: folder)
            for (name, bytes) in files { try write(name, bytes, in: folder) }
            return folder
        } catch {
            throw FuzzFailure(description: "the files cannot be written: \(error)")
        }
    }

    /// Not synced: a fuzzer writes thousands a second, and nobody misses them after a power cut.
    private static func write(_ name: String, _ bytes: [UInt8], in folder: TemporaryFolder) throws(SystemError) {
        let path = folder.path(name)
        if let slash = path.lastIndex(of: "/") { try Folder.make(String(path[..<slash])) }
        try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC).writeAll(bytes)
    }

    private static func load(_ folder: TemporaryFolder) -> Result<Configuration, ConfigurationErrors> {
        Result { () throws(ConfigurationErrors) in
            try ConfigurationLoader(
                sources: ConfigurationSources(kind: .privateFolder, folders: [folder.path]), accounts: NoAccounts(),
                daemonUID: getuid()
            ).load()
        }
    }

    /// Every problem names a file that there is, and a line that the file has.
    private static func check(
        _ errors: ConfigurationErrors, _ files: [String: [UInt8]], _ folder: TemporaryFolder
    ) throws(FuzzFailure) {
        try require(!errors.problems.isEmpty, "a load that failed without a problem")
        for problem in errors.problems {
            let name = String(problem.file.dropFirst(folder.path.count + 1))
            guard let bytes = files[name] else {
                throw FuzzFailure(description: "a problem in \(problem.file), which was not written: \(problem)")
            }
            let lines = bytes.count { $0 == 0x0A } + 1
            try require((1...lines).contains(problem.line ?? 1), "a problem at a line that is not there: \(problem)")
            try require(!problem.message.isEmpty, "a problem without words in \(name)")
            let isOneLine = !problem.message.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" }
            try require(isOneLine, "a problem of more than one line: \(problem)")
            try require(!problem.message.contains(secret), "a problem that tells the secret")
        }
    }

    private static func check(_ settings: [EffectiveSetting], input: [UInt8]) throws(FuzzFailure) {
        var seen: Set<SettingName> = []
        for setting in settings {
            try require(seen.insert(setting.name).inserted, "\(setting.name) is listed twice")
            try require(
                !setting.value.contains(secret) || input.contains(secret.utf8), "\(setting.name) is a secret told")
        }
    }

    /// What is in effect, written as files, comes into effect the same.
    private static func survivesWriting(
        _ configuration: Configuration, in folder: TemporaryFolder
    ) throws(FuzzFailure) {
        var texts: [String: String] = [:]
        var section: String?
        for setting in configuration.settings where setting.source != .standard && !setting.isSecret {
            // A longer line is refused; continuation lines had made it.
            guard setting.value.utf8.count < 16_000 else { return }
            let title = "\(setting.file) \(setting.section)"
            if texts[setting.file] == nil || title != section {
                texts[setting.file, default: ""] += "[\(setting.section)]\n"
            }
            section = title
            texts[setting.file, default: ""] += "\(setting.key)=\(setting.value)\n"
        }
        let again = try self.folder(texts.mapValues { Array($0.utf8) })
        switch load(again) {
        case .failure(let errors):
            throw FuzzFailure(description: "what was in effect is refused when it is written: \(errors)")
        case .success(let other):
            for setting in configuration.settings where setting.source != .standard && !setting.isSecret {
                let same = other.settings.first { $0.name == setting.name }
                try require(
                    same?.value == setting.value,
                    "\(setting.name)=\(setting.value) comes back as \(same?.value ?? "nothing")")
            }
        }
    }
}

/// A machine without users and groups.
private struct NoAccounts: AccountResolver {
    func uid(ofUser user: String) -> UInt32? { nil }
    func gid(ofGroup group: String) -> UInt32? { nil }
}
