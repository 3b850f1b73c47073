/// Reads the text of unit-style files: sections, assignments, comments, continuation lines.
struct UnitFileParser {
    /// The most bytes of one line, continuation lines counted one by one.
    static let lineBytes = 16_384

    private var file: UnitFile
    private(set) var problems: [ConfigurationProblem] = []
    private var pending: (text: String, line: Int)?
    private var isInBadSection = false

    /// Parses `bytes`; `path` names the file in problems. All problems are found, not only the first.
    static func parse(_ bytes: [UInt8], path: String) -> (file: UnitFile, problems: [ConfigurationProblem]) {
        var parser = UnitFileParser(file: UnitFile(path: path))
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let lines = bytes[(hasMark ? 3 : 0)...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() { parser.take(line, number: index + 1) }
        parser.finish(lines.count)
        return (parser.file, parser.problems)
    }

    private mutating func report(_ line: Int, _ message: String) {
        problems.append(ConfigurationProblem(file: file.path, line: line, message: message))
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>, number: Int) {
        guard let text = text(of: bytes, number: number) else {
            pending = nil
            return
        }
        let isComment = text.hasPrefix("#") || text.hasPrefix(";")
        if isComment || (text.isEmpty && pending == nil) { return }
        let start = pending?.line ?? number
        let joined = (pending?.text ?? "") + text
        pending = nil
        if joined.hasSuffix("\\") {
            pending = (String(joined.dropLast()) + " ", start)
        } else {
            interpret(joined.trimmed, number: start)
        }
    }

    /// The line without surrounding white space; nil where it is no text.
    private mutating func text(of bytes: ArraySlice<UInt8>, number: Int) -> Substring? {
        guard bytes.count <= Self.lineBytes else {
            report(number, "the line is longer than \(Self.lineBytes) bytes")
            return nil
        }
        guard !bytes.contains(0) else {
            report(number, "the line contains a NUL byte")
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            report(number, "the line is not valid UTF-8; save the file as UTF-8")
            return nil
        }
        let trimmed = Substring(text).trimmed
        guard !trimmed.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }) else {
            report(number, "the line contains a control character")
            return nil
        }
        return trimmed
    }

    private mutating func interpret(_ text: Substring, number: Int) {
        if text.hasPrefix("[") {
            openSection(text, number: number)
        } else if let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
            assign(text[..<equals].trimmed, text[text.utf8.index(after: equals)...].trimmed, number: number)
        } else {
            report(number, "expected Key=Value, [Section] or a comment, found \"\(text.shortened)\"")
        }
    }

    private mutating func openSection(_ text: Substring, number: Int) {
        let inner = text.dropFirst().dropLast().trimmed
        isInBadSection = !text.hasSuffix("]") || inner.isEmpty || inner.contains { $0 == "[" || $0 == "]" }
        guard !isInBadSection else {
            report(number, "malformed section \"\(text.shortened)\"; write [Name] or [Name id]")
            return
        }
        let name = inner.prefix { $0 != " " && $0 != "\t" }
        file.sections.append(
            UnitSection(
                name: String(name), argument: String(inner.dropFirst(name.count).trimmed), file: file.path,
                line: number))
    }

    private mutating func assign(_ left: Substring, _ value: Substring, number: Int) {
        if isInBadSection { return }
        guard !file.sections.isEmpty else {
            report(number, "\"\(left.shortened)=\" stands before the first [Section]")
            return
        }
        var key = left
        var language: Substring?
        if left.hasSuffix("]"), let bracket = left.firstIndex(of: "[") {
            key = left[..<bracket]
            language = left[left.index(after: bracket)...].dropLast()
        }
        guard !key.isEmpty, key.utf8.allSatisfy(\.isLetterOrDigit),
            language.map({ !$0.isEmpty && $0.utf8.allSatisfy(\.isOfLanguageTag) }) ?? true
        else {
            report(
                number, "malformed key \"\(left.shortened)\"; keys are letters and digits, as in Title= or Title[de]=")
            return
        }
        file.sections[file.sections.count - 1].assignments.append(
            Assignment(
                key: String(key), language: language.map(String.init), value: String(value), file: file.path,
                line: number))
    }

    private mutating func finish(_ lineCount: Int) {
        guard let pending else { return }
        report(pending.line, "the backslash at the end of line \(lineCount) continues nothing")
    }

    private init(file: UnitFile) {
        self.file = file
    }
}
