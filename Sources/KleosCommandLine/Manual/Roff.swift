/// Text in the language of troff, with the macros of man(7). Pure.
enum Roff {
    /// Input lines are kept shorter than this; troff fills them anew.
    private static let width = 76

    /// `text` so that each character stands for itself.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default:
                if scalar.isASCII {
                    result.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
                }
            }
        }
        return result
    }

    /// The first line of a page.
    static func title(_ name: String, section: Int, version: String, manual: String) -> String {
        // The date of the version and not of the day, so that the same source gives the same page.
        ".TH \(escaped(name.uppercased())) \(section) 2026-11-30 \"kleos \(version)\" \"\(escaped(manual))\""
    }

    /// A heading; `text` in capitals as is the custom.
    static func heading(_ text: String) -> String { ".SH \"\(escaped(text.uppercased()))\"" }

    /// A heading below one.
    static func subheading(_ text: String) -> String { ".SS \"\(escaped(text))\"" }

    /// A paragraph of running text, in which what stands between backquotes is bold.
    static func paragraph(_ text: String) -> [String] { [".PP"] + filled(text) }

    /// A label with what it means beside it.
    static func item(_ label: String, _ text: String) -> [String] {
        let lines = filled(text)
        return [".TP", ".B \"\(escaped(label))\""] + (lines.isEmpty ? ["\\&"] : lines)
    }

    /// Lines as they are.
    static func verbatim(_ lines: [String]) -> [String] {
        [".PP", ".nf"] + lines.map { $0.isEmpty ? "\\&" : protected(escaped($0)) } + [".fi"]
    }

    /// Running text in lines of input.
    static func filled(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in inline(text).split(separator: " ") {
            if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > width {
                lines.append(protected(line))
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return line.isEmpty ? lines : lines + [protected(line)]
    }

    /// What begins with a point or an apostrophe would be a request.
    private static func protected(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }

    private static func inline(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        // An odd number of backquotes is no markup.
        guard parts.count % 2 == 1 else { return escaped(text) }
        return parts.enumerated().map { index, part in
            index % 2 == 1 ? "\\fB\(escaped(String(part)))\\fR" : escaped(String(part))
        }.joined()
    }
}
