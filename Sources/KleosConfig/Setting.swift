/// How a setting is written.
enum SettingShape: Sendable {
    /// One value; the last assignment counts, an empty one returns to the default.
    case single
    /// Words of all assignments together; an empty assignment forgets those before it.
    case list
    /// One value and translations of it: `Key[de]=`.
    case translated
}

/// All that there is to know about one key.
package struct SettingDefinition: Sendable {
    package let key: String
    /// The default as a file would spell it; empty for none.
    package let standard: String
    /// What to say of the default in place of `standard`.
    let standardNote: String?
    /// What is accepted, for people.
    package let expectation: String
    let shape: SettingShape
    let isRequired: Bool
    /// What the setting does, in a sentence or two.
    package let documentation: String
}

/// One key with the type of its value.
struct Setting<Value: Sendable>: Sendable {
    let definition: SettingDefinition
    let reader: ValueReader<Value>

    /// Declares a key that has a default.
    init(
        _ key: String, _ reader: ValueReader<Value>, standard: String, standardNote: String? = nil,
        shape: SettingShape = .single, isRequired: Bool = false, _ documentation: String
    ) {
        definition = SettingDefinition(
            key: key, standard: standard, standardNote: standardNote, expectation: reader.expectation, shape: shape,
            isRequired: isRequired, documentation: documentation)
        self.reader = reader
    }

    var key: String { definition.key }

    /// The value of a default, which the program itself declares.
    func trustedValue(_ standard: String) -> Value {
        do {
            return try reader.read(standard)
        } catch {
            preconditionFailure("the default \(standard) of \(key)= is invalid: \(error.message)")
        }
    }
}

/// A section and its keys.
package struct SectionDefinition: Sendable {
    package let name: String
    /// What follows the name in the brackets: "ID"; nil where nothing does.
    package let argument: String?
    package let documentation: String
    package let settings: [SettingDefinition]
    /// Keys that must not be used, each with what to do instead.
    var refusals: [String: String] = [:]
}

/// A kind of file and its sections.
package struct FileDefinition: Sendable {
    /// Its name, or pattern of names, under a folder of the search path.
    package let name: String
    package let documentation: String
    package let sections: [SectionDefinition]

    func section(_ name: String) -> SectionDefinition? { sections.first { $0.name == name } }
}
