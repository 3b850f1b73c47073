/// The members of a JSON object, in the order in which they were written.
package struct JSONObject: Sendable, Equatable {
    /// One member.
    package struct Member: Sendable, Equatable {
        package let name: String
        package var value: JSONValue
        /// Where the value stands in the parsed text, as offsets in bytes; empty for a value made by hand.
        package let sourceRange: Range<Int>
        /// Length and beginning of the name, which compare at once.
        private let mark: UInt64

        init(name: String, value: JSONValue) {
            self.init(name: name, mark: Self.mark(of: name), value: value, sourceRange: 0..<0)
        }

        /// `mark` must be that of `name`.
        init(name: String, mark: UInt64, value: JSONValue, sourceRange: Range<Int>) {
            self.name = name
            self.mark = mark
            self.value = value
            self.sourceRange = sourceRange
        }

        /// The mark of a name. It says all of a name of at most `markedBytes`.
        static func mark(of name: String) -> UInt64 {
            name.utf8.withContiguousStorageIfAvailable(mark) ?? Array(name.utf8).withUnsafeBufferPointer(mark)
        }

        private static let markedBytes = 7

        private static func mark(of name: UnsafeBufferPointer<UInt8>) -> UInt64 {
            var mark = UInt64(truncatingIfNeeded: name.count)
            for byte in name.prefix(markedBytes) { mark = mark << 8 | UInt64(byte) }
            return mark
        }

        package static func == (left: Member, right: Member) -> Bool {
            left.isNamed(right.name, mark: right.mark) && left.value == right.value
        }

        /// Byte for byte: String's own equality also unites different spellings of one character.
        func isNamed(_ name: String, mark: UInt64) -> Bool {
            guard self.mark == mark, self.name.utf8.count == name.utf8.count else { return false }
            if name.utf8.count <= Self.markedBytes { return true }
            let isSame = self.name.utf8.withContiguousStorageIfAvailable { own in
                name.utf8.withContiguousStorageIfAvailable { own.elementsEqual($0) }
            }
            return (isSame ?? nil) ?? self.name.utf8.elementsEqual(name.utf8)
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
        get { index(of: name).map { members[$0].value } }
        set {
            let index = index(of: name)
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
        index(of: name).map { members[$0] }
    }

    /// The place of the member `name` among all; nil where it is absent.
    package func index(of name: String) -> Int? {
        let mark = Member.mark(of: name)
        return members.firstIndex { $0.isNamed(name, mark: mark) }
    }
}
