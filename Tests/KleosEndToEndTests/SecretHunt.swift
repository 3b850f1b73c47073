import Glibc
import KleosSupport
import KleosTestSupport
import Testing

/// Looks for a planted secret in everything that a daemon writes, says and shows.
struct SecretHunt {
    let token: String
    let scenario: SecurityScenario

    /// How the token may look: as it is, or as somebody wrote it down in another spelling.
    var spellings: [String] {
        let bytes = Array(token.utf8)
        return [
            token, bytes.map { Spelling.hex($0) }.joined(), bytes.map { "%\(Spelling.hex($0))" }.joined(),
            bytes.map { "\\u00\(Spelling.hex($0))" }.joined(), bytes.map { "&#\($0);" }.joined(),
            // The middle of the token is the same in base64 wherever it begins, once in three.
        ] + (0..<3).map { Spelling.base64(String(token.dropFirst($0)), from: 0) }
    }

    /// Fails where `text` holds the token in any spelling.
    func check(_ text: String, _ place: String) {
        for spelling in spellings where text.contains(spelling) {
            Issue.record("the token stands in \(place), as \(spelling)")
        }
    }

    /// Looks into every file of the daemon's folder but those where the secret itself is kept.
    func checkFiles(except kept: Set<String>) throws {
        var count = 0
        func look(_ folder: String) throws {
            for name in try Folder.names(in: folder) {
                let path = "\(folder)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: try look(path)
                case S_IFREG where !kept.contains(name):
                    count += 1
                    check(
                        String(decoding: try SmallFile.read(at: path, limitBytes: 64 << 20), as: UTF8.self),
                        "the file \(path)")
                default: break
                }
            }
        }
        try look(scenario.daemon.folder.path)
        #expect(count > 5, "files were looked through")
    }

    /// Runs every command that reads, in text and in JSON, and looks through what it says.
    func checkCommands(keys: [String]) throws {
        let commands =
            [
                ["list"], ["status"], ["notices"], ["standing", "minesweeper"],
                ["config", "show", "--dir", scenario.daemon.folder.path],
                ["config", "check", "--dir", scenario.daemon.folder.path], ["reload"],
                ["watch", "--timeout", "1"],
            ] + keys.map { ["show", $0] }
        for command in commands {
            for arguments in [command, command + ["--json"]] {
                let result = try scenario.daemon.kleos(arguments)
                check(result.output + result.errors, "what kleos \(arguments.joined(separator: " ")) says")
                if command.first == "show" { #expect(result.isSuccess, "\(arguments): \(result.errors)") }
            }
        }
    }

    /// Looks through the command lines and variables of the daemon and its children.
    func checkProcesses() throws {
        let daemon = try #require(scenario.daemon.processID)
        let children = try SmallFile.readText(at: "/proc/\(daemon)/task/\(daemon)/children")
        let all = [daemon] + children.split(separator: " ").compactMap { pid_t($0) }
        for process in all {
            for name in ["cmdline", "environ"] {
                // A child may have gone meanwhile; the daemon has not.
                guard let text = try? SmallFile.readText(at: "/proc/\(process)/\(name)") else { continue }
                if process == daemon { #expect(!text.isEmpty) }
                check(text, "/proc/\(process)/\(name)")
            }
        }
    }
}

/// Spellings of bytes.
enum Spelling {
    static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    /// Base64 of whole groups of three bytes of `text`.
    static func base64(_ text: String, from start: Int) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bytes = Array(text.utf8.dropFirst(start))
        var result = ""
        for index in stride(from: 0, to: bytes.count - 2, by: 3) {
            let number = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
            for shift in [18, 12, 6, 0] { result.append(digits[number >> shift & 63]) }
        }
        return result
    }
}
