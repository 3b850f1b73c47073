import KleosModel

/// Reads one section's typed values, and notes each with its source.
struct SectionReader {
    let logicalName: String
    let section: UnitSection
    let report: LoadReport

    /// The section called `title` of `file`; an empty one where the file has none.
    init(_ file: SettingsFile, _ title: String, _ report: LoadReport) {
        let empty = UnitSection(name: title, argument: "", file: file.path, line: 0)
        self.init(file, file.sections.first { $0.title == title } ?? empty, report)
    }

    /// A reader of `section`.
    init(_ file: SettingsFile, _ section: UnitSection, _ report: LoadReport) {
        logicalName = file.logicalName
        self.section = section
        self.report = report
    }

    /// The value of `setting`: the file's, or its default. Notes a problem and gives the default for a bad one.
    /// `standard` replaces the declared default.
    func value<Value>(_ setting: Setting<Value>, standard: String? = nil) -> Value {
        let assignments = effective(setting.definition)
        guard let last = assignments.last else {
            if setting.definition.isRequired { missing(setting.key) }
            let text = standard ?? setting.definition.standard
            note(setting.key, text, .standard)
            return setting.trustedValue(text)
        }
        let text = assignments.map(\.value).filter { !$0.isEmpty }.joined(separator: " ")
        note(setting.key, text, .line(file: last.file, number: last.line))
        do throws(ValueError) {
            return try setting.reader.read(text)
        } catch {
            let isCommented = text.contains(" #") || text.contains(" ;")
            let hint = isCommented ? "; a comment needs a line of its own" : ""
            problem(at: last, "\(error.message)\(hint)", repeatsValue: !error.isSensitive)
            return setting.trustedValue(setting.definition.standard)
        }
    }

    /// The text of `setting` with its translations; nil where there is none.
    func localizedText(_ setting: Setting<String>) -> LocalizedText? {
        let standard = value(setting)
        var translations: [String: String] = [:]
        for assignment in section.assignments where assignment.key == setting.key {
            guard let language = assignment.language else { continue }
            translations[language] = assignment.value.isEmpty ? nil : assignment.value
        }
        for language in translations.keys.sorted() {
            let last = section.assignments.last { $0.key == setting.key && $0.language == language }
            guard let last else { continue }
            note(last.name, last.value, .line(file: last.file, number: last.line))
        }
        guard standard.isEmpty else { return LocalizedText(standard, translations: translations) }
        if let orphan = section.assignments.last(where: { $0.key == setting.key && $0.language != nil }) {
            problem(at: orphan, "a translation needs \(setting.key)= without a language beside it")
        }
        return nil
    }

    /// Whether a file sets `key`.
    func isSet<Value>(_ setting: Setting<Value>) -> Bool {
        !effective(setting.definition).isEmpty
    }

    /// Notes what is wrong with the value of `key`, at the line that set it or else at the section.
    func problem(_ key: String, _ message: String) {
        if let last = section.assignments.last(where: { $0.key == key && $0.language == nil }) {
            problem(at: last, message)
        } else {
            report.problem(section.file, section.line > 0 ? section.line : nil, "\(key)=: \(message)")
        }
    }

    /// The file that sets `key`, the section's where none does.
    func file(ofKey key: String) -> String {
        section.assignments.last { $0.key == key }?.file ?? section.file
    }

    /// Notes a value in effect.
    func note(_ key: String, _ value: String, _ source: SettingSource, isSecret: Bool = false) {
        let name = SettingName(file: logicalName, section: section.title, key: key)
        report.settings.append(EffectiveSetting(name: name, value: value, source: source, isSecret: isSecret))
    }

    private func problem(at assignment: Assignment, _ message: String, repeatsValue: Bool = true) {
        let value = repeatsValue ? assignment.value.shortened : "..."
        report.problem(assignment.file, assignment.line, "\(assignment.name)=\(value): \(message)")
    }

    private func missing(_ key: String) {
        report.problem(section.file, section.line > 0 ? section.line : nil, "[\(section.title)] needs \(key)=")
    }

    /// The assignments that count: of a single value the last unless it is empty, of a list those since the last
    /// empty one, that included.
    private func effective(_ definition: SettingDefinition) -> ArraySlice<Assignment> {
        let all = section.assignments.filter { $0.key == definition.key && $0.language == nil }
        guard definition.shape == .list else {
            return all.suffix(1).filter { !$0.value.isEmpty }[...]
        }
        return all[(all.lastIndex { $0.value.isEmpty } ?? 0)...]
    }
}
