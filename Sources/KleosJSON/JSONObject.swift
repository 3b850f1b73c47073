/// The members of a JSON object, in the order in which they were written.
package struct JSONObject: Sendable, Equatable {
    /// One member.
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue
        /// Where the value stands in the parsed text, as offsets in bytes; empty for a value made by hand.
        package var sourceRange: Range<Int> = 0..<0

        package static func == (left: Member, right: Member) -> Bool {
            left.isNamed(right.name) && left.value == right.value
        }

        /// Byte for byte: String's own equality also unites different spellings of one character.
        func isNamed(_ name: String) -> Bool {
            self.name.utf8.count == name.utf8.count && self.name.utf8.elementsEqual(name.utf8)
        }
    }

    /// All members, in order; no name twice.
    package private(set) var members: [Member] = []

    /// Makes an empty object.
    package init() {}

    /// Takes over members whose names differ.
    init(uniqueMembers members: [Member]) {
        self.members = members
    }

    /// The names, in order.
    package var names: [String] { members.map(\.name) }

    /// Whether there are no members.
    package var isEmpty: Bool { members.isEmpty }

    /// The value of the member `name`, compared byte by byte. Setting nil removes it; a new name goes last.
    package subscript(name: String) -> JSONValue? {
        get { member(name)?.value }
        set {
            let index = members.firstIndex { $0.isNamed(name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = Member(name: name, value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The member `name`, with its place in the text; nil where it is absent.
    package func member(_ name: String) -> Member? {
        members.first { $0.isNamed(name) }
    }
}
