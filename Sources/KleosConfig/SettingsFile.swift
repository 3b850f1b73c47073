/// One configuration file with its drop-ins, merged and checked against what its kind of file may say.
struct SettingsFile {
    /// Its name under each folder of the search path.
    let logicalName: String
    /// The path of the file itself, for problems without a line.
    let path: String
    private(set) var sections: [UnitSection] = []

    /// Merges `parts`, the file itself first, then its drop-ins in order; reports what is unknown or set twice.
    init(logicalName: String, parts: [UnitFile], definition: FileDefinition, report: LoadReport) {
        self.logicalName = logicalName
        path = parts.first?.path ?? logicalName
        var indices: [String: Int] = [:]
        for part in parts {
            var seen: [String: Int] = [:]
            for section in part.sections {
                guard let known = Self.check(section, definition, report) else { continue }
                var checked = section
                checked.assignments = section.assignments.filter { assignment in
                    Self.check(assignment, section, known, definition, report)
                        && Self.checkRepetition(assignment, section, known, &seen, report)
                }
                merge(checked, &indices)
            }
        }
    }

    /// `indices` says where each title stands: a catalog may have thousands.
    private mutating func merge(_ section: UnitSection, _ indices: inout [String: Int]) {
        if let index = indices[section.title] {
            sections[index].assignments += section.assignments
        } else {
            indices[section.title] = sections.count
            sections.append(section)
        }
    }

    private static func check(
        _ section: UnitSection, _ definition: FileDefinition, _ report: LoadReport
    ) -> SectionDefinition? {
        guard let known = definition.section(section.name) else {
            let hint = Hint.nearest(to: section.name, in: definition.sections.map(\.name)) { "[\($0)]" }
            report.problem(section.file, section.line, "unknown section [\(section.title.shortened)]\(hint)")
            return nil
        }
        switch (known.argument, section.argument.isEmpty) {
        case (let argument?, true):
            report.problem(
                section.file, section.line, "[\(section.name)] needs an id, as in [\(section.name) \(argument)]")
            return nil
        case (nil, false):
            report.problem(
                section.file, section.line,
                "[\(section.name)] takes no id, but \"\(section.argument.shortened)\" follows it")
            return nil
        default:
            return known
        }
    }

    private static func check(
        _ assignment: Assignment, _ section: UnitSection, _ known: SectionDefinition, _ definition: FileDefinition,
        _ report: LoadReport
    ) -> Bool {
        let key = assignment.key
        func refuse(_ message: String) -> Bool {
            report.problem(assignment.file, assignment.line, message)
            return false
        }
        if let refusal = known.refusals[key] { return refuse("\(key)= \(refusal)") }
        guard let setting = known.settings.first(where: { $0.key == key }) else {
            let home = definition.sections.first { $0.settings.contains { $0.key == key } }
            if let home { return refuse("\(key)= belongs in [\(home.name)], not in [\(section.title)]") }
            let hint = Hint.nearest(to: key, in: known.settings.map(\.key)) { "\($0)=" }
            return refuse("unknown key \(key.shortened)= in [\(section.title)]\(hint)")
        }
        guard assignment.language == nil || setting.shape == .translated else {
            return refuse("\(key)= has no translations; remove [\(assignment.language ?? "")]")
        }
        return true
    }

    /// Within one file a second value for a key is a mistake, most likely a copied section whose id stayed the same.
    private static func checkRepetition(
        _ assignment: Assignment, _ section: UnitSection, _ known: SectionDefinition, _ seen: inout [String: Int],
        _ report: LoadReport
    ) -> Bool {
        let isList = known.settings.contains { $0.key == assignment.key && $0.shape == .list }
        if isList { return true }
        let name = "\(section.title)]\(assignment.name)"
        defer { seen[name] = assignment.value.isEmpty ? nil : assignment.line }
        guard let first = seen[name], !assignment.value.isEmpty else { return true }
        report.problem(
            assignment.file, assignment.line,
            "\(assignment.name)= of [\(section.title)] is set a second time; line \(first) set it first")
        return false
    }
}
