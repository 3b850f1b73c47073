import Glibc
import KleosSupport

/// Finds the configuration's files in the folders of its search path.
struct ConfigurationFiles {
    /// The most bytes of one file.
    static let limitBytes = 1 << 20

    let sources: ConfigurationSources
    let report: LoadReport

    /// `kleosd.conf` with its drop-ins; empty where there is none.
    func daemonFile() -> SettingsFile {
        let name = DaemonFile.definition.name
        let main = sources.folders.map { "\($0)/\(name)" }.last(where: exists)
        let parts = (main.map { isMasked($0) ? [] : [$0] } ?? []) + dropIns(name, in: sources.folders)
        return SettingsFile(
            logicalName: name, parts: parts.compactMap(parse), definition: DaemonFile.definition, report: report)
    }

    /// The games' files, by name in byte order.
    func gameFiles() -> [(name: String, file: SettingsFile)] {
        let folders = sources.gameFolders + sources.folders.map { "\($0)/games.d" }
        return files("games.d", in: folders, GameFile.definition)
    }

    /// Games' own catalogs, by name in byte order, each with a way to read it that reports elsewhere; nil from that
    /// where it cannot be read.
    func registeredFiles() -> [(name: String, parse: (LoadReport) -> SettingsFile?)] {
        guard let folder = sources.registeredFolder else { return [] }
        return overridden(in: [folder]).map { path in
            let name = baseName(path)
            return (
                String(name.dropLast(5)),
                { own in
                    ConfigurationFiles(sources: sources, report: own).parse(path).map { part in
                        SettingsFile(
                            logicalName: "registered.d/\(name)", parts: [part], definition: RegisteredGames.definition,
                            report: own)
                    }
                }
            )
        }
    }

    /// The endpoints' files, by name in byte order.
    func endpointFiles() -> [(name: String, file: SettingsFile)] {
        files("endpoints.d", in: sources.folders.map { "\($0)/endpoints.d" }, EndpointFile.definition)
    }

    private func files(
        _ collection: String, in folders: [String], _ definition: FileDefinition
    ) -> [(name: String, file: SettingsFile)] {
        let paths = overridden(in: folders)
        reportOrphans(paths, in: folders)
        return paths.compactMap { path in
            if isMasked(path) { return nil }
            let fileName = baseName(path)
            guard let main = parse(path) else { return nil }
            let parts = [main] + dropIns(fileName, in: folders).compactMap(parse)
            let file = SettingsFile(
                logicalName: "\(collection)/\(fileName)", parts: parts, definition: definition, report: report)
            return (String(fileName.dropLast(5)), file)
        }
    }

    /// The paths of `*.conf` in `folders`, those of later folders in place of their namesakes, by name.
    private func overridden(in folders: [String]) -> [String] {
        var paths: [String: String] = [:]
        for folder in folders {
            for name in names(in: folder) where name.hasSuffix(".conf") && !name.hasPrefix(".") {
                paths[name] = "\(folder)/\(name)"
            }
        }
        return paths.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
    }

    private func dropIns(_ name: String, in folders: [String]) -> [String] {
        overridden(in: folders.map { "\($0)/\(name).d" }).filter { !isMasked($0) }
    }

    /// Warns of drop-ins whose file is nowhere, because they have no effect.
    private func reportOrphans(_ paths: [String], in folders: [String]) {
        let known = Set(paths.map(baseName))
        for folder in folders {
            for name in names(in: folder) where name.hasSuffix(".conf.d") && !known.contains(String(name.dropLast(2))) {
                report.warnings.append(
                    ConfigurationProblem(
                        file: "\(folder)/\(name)",
                        message: "has no effect, because there is no \(name.dropLast(2)) that it could change"))
            }
        }
    }

    private func parse(_ path: String) -> UnitFile? {
        do throws(SystemError) {
            let parsed = UnitFileParser.parse(
                try RegularFile.read(path, limitBytes: Self.limitBytes).bytes, path: path)
            report.problems += parsed.problems
            return parsed.file
        } catch {
            report.problem(path, nil, error.description)
            return nil
        }
    }

    private func names(in folder: String) -> [String] {
        do throws(SystemError) {
            return try Folder.names(in: folder)
        } catch {
            if error.code != ENOENT { report.problem(folder, nil, error.description) }
            return []
        }
    }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Whether `path` is a link to /dev/null, which stands for "as if there were no such file".
    private func isMasked(_ path: String) -> Bool {
        // Sound: only the bytes that readlink counted are read; a longer target is cut, and then no match.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { buffer in
            guard let start = buffer.baseAddress else { return false }
            let length = readlink(path, start, buffer.count)
            return length > 0 && buffer.prefix(length).elementsEqual("/dev/null".utf8.map { CChar(bitPattern: $0) })
        }
    }

    private func baseName(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
