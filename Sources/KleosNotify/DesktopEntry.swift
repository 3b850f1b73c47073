/// The part of a `.desktop` file that says how to start an application. Pure.
package enum DesktopEntry {
    /// The program and its arguments, without the codes for files and addresses; nil where the file does not say.
    package static func command(_ text: String) -> [String]? {
        let values = values(text)
        guard let exec = values["Exec"], let words = words(unescaped(exec)) else { return nil }
        let command = words.compactMap { expanded($0, name: values["Name"] ?? "") }
        guard !command.isEmpty else { return nil }
        return values["Terminal"] == "true" ? ["x-terminal-emulator", "-e"] + command : command
    }

    /// The folder that the program runs in; nil where the file does not say.
    package static func folder(_ text: String) -> String? {
        values(text)["Path"].map(unescaped).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The main group's keys and values.
    private static func values(_ text: String) -> [String: String] {
        var isMain = false
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                isMain = line.hasPrefix("[Desktop Entry]")
            } else if isMain, let equals = line.firstIndex(of: "=") {
                let key = line[..<equals].filter { $0 != " " }
                values[key] = values[key] ?? String(line[line.index(after: equals)...].drop { $0 == " " })
            }
        }
        return values
    }

    /// The escapes of every value of such a file.
    private static func unescaped(_ text: String) -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                switch character {
                case "s": result.append(" ")
                case "n": result.append("\n")
                case "t": result.append("\t")
                case "r": result.append("\r")
                case "\\": result.append("\\")
                default: result += "\\\(character)"
                }
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
            }
        }
        return isEscaped ? result + "\\" : result
    }

    /// Words separated by spaces, with double quotes around what has some; nil where a quote does not end.
    private static func words(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character == " ", !isQuoted {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { return nil }
        return words + (word.map { [$0] } ?? [])
    }

    private static func expanded(_ word: String, name: String) -> String? {
        guard word.contains("%") else { return word }
        var result = ""
        var isCode = false
        for character in word {
            if isCode {
                if character == "%" { result.append("%") }
                if character == "c" { result += name }
                isCode = false
            } else if character == "%" {
                isCode = true
            } else {
                result.append(character)
            }
        }
        return result.isEmpty ? nil : result
    }
}
