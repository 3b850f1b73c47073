/// A page of a B-tree, its structure checked; SQLite's file format, section 1.6.
struct TreePage {
    enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
    }

    let kind: Kind
    /// Where cells begin in the page.
    let cells: [Int]
    private let bytes: [UInt8]
    private let header: Int

    /// Reads the page `number`; nil where its bytes are no page of a tree.
    init?(_ bytes: [UInt8], number: UInt32) {
        header = number == 1 ? 100 : 0
        guard let kind = Kind(rawValue: bytes[header]) else { return nil }
        let first = header + (kind.isInterior ? 12 : 8)
        let count = Int(bytes[header + 3]) << 8 | Int(bytes[header + 4])
        guard first + 2 * count <= bytes.count else { return nil }
        let cells = (0..<count).map { Int(bytes[first + 2 * $0]) << 8 | Int(bytes[first + 2 * $0 + 1]) }
        guard cells.allSatisfy({ $0 >= first + 2 * count && $0 + 4 <= bytes.count }) else { return nil }
        self.kind = kind
        self.cells = cells
        self.bytes = bytes
    }

    /// The pages below this one.
    var children: [UInt32] {
        kind.isInterior ? cells.map { bytes.number($0) } + [bytes.number(header + 8)] : []
    }

    /// Reads the record of cell `index`, with what it has on overflow pages; nil where it is damaged.
    func record(_ index: Int, in file: PageFile) -> (rowID: Int64, values: [SQLValue])? {
        var reader = ByteReader(bytes: bytes, offset: cells[index])
        if kind == .indexInterior { reader.offset += 4 }
        guard kind != .tableInterior, let size = reader.varint(), size >= 1, size <= 1 << 20 else { return nil }
        var rowID: Int64 = 0
        if kind == .tableLeaf {
            guard let number = reader.varint() else { return nil }
            rowID = number
        }
        let isTable = kind == .tableLeaf
        guard let payload = Self.payload(reader, Int(size), isTable: isTable, file), let values = Self.values(payload)
        else { return nil }
        return (rowID, values)
    }

    private static func payload(_ reader: ByteReader, _ size: Int, isTable: Bool, _ file: PageFile) -> [UInt8]? {
        let usable = reader.bytes.count
        let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (size - least) % (usable - 4)
        let local = size <= most ? size : fitting <= most ? fitting : least
        guard reader.offset + local + (local < size ? 4 : 0) <= usable else { return nil }
        var payload = Array(reader.bytes[reader.offset..<reader.offset + local])
        var next = local < size ? reader.bytes.number(reader.offset + local) : 0
        // A chain that goes round ends with the size.
        while payload.count < size {
            guard next != 0, let page = file.page(next) else { return nil }
            payload += page[4..<4 + min(size - payload.count, usable - 4)]
            next = page.number(0)
        }
        return payload
    }

    private static func values(_ payload: [UInt8]) -> [SQLValue]? {
        var types = ByteReader(bytes: payload, offset: 0)
        guard let length = types.varint(), length >= 1, length <= payload.count else { return nil }
        var content = ByteReader(bytes: payload, offset: Int(length))
        var values: [SQLValue] = []
        while types.offset < Int(length) {
            guard let type = types.varint(), let value = content.value(type), values.count < 64 else { return nil }
            values.append(value)
        }
        return types.offset == Int(length) ? values : nil
    }
}

/// Reads bytes one after another, and never beyond their end.
struct ByteReader {
    let bytes: [UInt8]
    var offset: Int

    /// A number of variable length; nil beyond the end.
    mutating func varint() -> Int64? {
        var number: UInt64 = 0
        for index in 0..<9 {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            if index == 8 { return Int64(bitPattern: number << 8 | UInt64(byte)) }
            number = number << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return Int64(bitPattern: number) }
        }
        return nil
    }

    /// A value of a serial type; nil beyond the end, and for fractions, which no table has.
    mutating func value(_ type: Int64) -> SQLValue? {
        switch type {
        case 0: return .null
        case 1...4: return integer(bytes: Int(type))
        case 5: return integer(bytes: 6)
        case 6: return integer(bytes: 8)
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 12...:
            guard let content = take(Int(clamping: (type - 12) / 2)) else { return nil }
            if type % 2 == 0 { return .blob(content) }
            return String(validating: content, as: UTF8.self).map { .text($0) }
        default: return nil
        }
    }

    private mutating func integer(bytes count: Int) -> SQLValue? {
        guard let content = take(count), let first = content.first else { return nil }
        let start: Int64 = first & 0x80 == 0 ? 0 : -1
        return .integer(content.reduce(start) { $0 << 8 | Int64($1) })
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= bytes.count - offset else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }
}
