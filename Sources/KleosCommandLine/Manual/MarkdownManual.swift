/// A document in Markdown as a page for man(1): headings, paragraphs, lists, tables and blocks of code. Pure.
enum MarkdownManual {
    /// The lines that follow the page's name. The document's first heading is left out, since that is the page's title.
    static func lines(_ text: String) -> [String] {
        var rest = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        var lines = [Roff.heading("Description")]
        while let line = rest.popFirst() {
            if line.hasPrefix("# ") || line.isEmpty { continue }
            if line.hasPrefix("### ") {
                lines.append(Roff.subheading(plain(String(line.dropFirst(4)))))
            } else if line.hasPrefix("## ") {
                lines.append(Roff.heading(plain(String(line.dropFirst(3)))))
            } else if line.hasPrefix("```") {
                lines += Roff.verbatim(take(&rest) { $0 != "```" }.flatMap(folded))
                _ = rest.popFirst()
            } else if line.hasPrefix("|") {
                lines += table([line] + take(&rest) { $0.hasPrefix("|") })
            } else if line.hasPrefix("- ") {
                let more = take(&rest) { $0.hasPrefix("  ") }
                let text = ([String(line.dropFirst(2))] + more).joined(separator: " ")
                lines += [".IP \\(bu 2"] + Roff.filled(marked(text))
            } else {
                let more = take(&rest) { !$0.isEmpty && !["#", "|", "- ", "```"].contains(where: $0.hasPrefix) }
                lines += Roff.paragraph(marked(([line] + more).joined(separator: " ")))
            }
        }
        return lines
    }

    private static func take(_ rest: inout ArraySlice<String>, while isPart: (String) -> Bool) -> [String] {
        let part = Array(rest.prefix(while: isPart))
        rest = rest.dropFirst(part.count)
        return part
    }

    /// The first cell of each row beside the others; the header and the rule below it say nothing on a page.
    private static func table(_ rows: [String]) -> [String] {
        rows.dropFirst(2).flatMap { row -> [String] in
            let cells = row.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast()
                .map { $0.split(separator: " ").joined(separator: " ") }
            let rest = cells.dropFirst().filter { !$0.isEmpty }.joined(separator: "; ")
            return Roff.item(plain(cells.first ?? ""), marked(rest))
        }
    }

    /// Long lines of examples in pieces that fit a terminal.
    private static func folded(_ line: String) -> [String] {
        var pieces: [String] = []
        var rest = line[...]
        while rest.count > 72 {
            pieces.append(String(rest.prefix(72)))
            rest = rest.dropFirst(72)
        }
        return pieces + [String(rest)]
    }

    /// Without the marks of code.
    private static func plain(_ text: String) -> String { marked(text).replacing("`", with: "") }

    /// Strong text as code, and links as their words with the address behind them.
    private static func marked(_ text: String) -> String {
        var result = ""
        var rest = text.replacing("**", with: "`")[...]
        while let start = rest.firstIndex(of: "["), let middle = rest[start...].firstRange(of: "]("),
            let end = rest[middle.upperBound...].firstIndex(of: ")")
        {
            let words = rest[rest.index(after: start)..<middle.lowerBound]
            result += "\(rest[..<start])\(words) (\(rest[middle.upperBound..<end]))"
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
