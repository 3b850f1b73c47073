/// Resolution of the users and groups that settings name.
enum AccountNames {
    /// The numbers of `names`, each a name or a number; reports names that do not exist.
    static func resolve(
        _ names: [String], key: String, section: SectionReader, unknown: (String) -> String,
        lookUp: (String) -> UInt32?
    ) -> Set<UInt32> {
        var numbers: Set<UInt32> = []
        for name in names {
            if let number = number(name) ?? lookUp(name) {
                numbers.insert(number)
            } else {
                section.problem(key, unknown(name))
            }
        }
        return numbers
    }

    /// What to say of a group that does not exist.
    static func unknownGroup(_ name: String) -> String {
        "there is no group \"\(name.shortened)\"; make it with \"groupadd --system \(name.shortened)\" or name another"
    }

    /// What to say of a user that does not exist.
    static func unknownUser(_ name: String) -> String {
        "there is no user \"\(name.shortened)\"; check the name with \"getent passwd\""
    }

    /// The number that `name` spells; 4294967295 is no user's and no group's.
    private static func number(_ name: String) -> UInt32? {
        guard name.utf8.allSatisfy(\.isDigit), let number = UInt32(name), number < UInt32.max else { return nil }
        return number
    }
}
