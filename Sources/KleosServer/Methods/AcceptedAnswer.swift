import KleosJSON
import KleosModel

/// The answer to a submission that is on disk, written byte by byte: it is the one that comes by the thousand.
struct AcceptedAnswer {
    private let id: [UInt8]?
    private let ignored: [String]
    private let key: EventKey
    private let isSuperseded: Bool
    private let isDuplicate: Bool

    init(_ token: ReplyToken, _ key: EventKey, isSuperseded: Bool = false, isDuplicate: Bool = false) {
        id = token.id
        ignored = token.ignored
        self.key = key
        self.isSuperseded = isSuperseded
        self.isDuplicate = isDuplicate
    }

    /// The answer, without its line feed.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// Adds the answer, without its line feed.
    func write(to bytes: inout [UInt8]) {
        Self.add("{\"jsonrpc\":\"2.0\",\"id\":", to: &bytes)
        if let id { bytes.append(contentsOf: id) } else { Self.add("null", to: &bytes) }
        Self.add(",\"result\":{\"key\":\"", to: &bytes)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: EventKey.textBytes) { text in
            key.write(into: text)
            bytes.append(contentsOf: text)
        }
        Self.add(isSuperseded ? "\",\"state\":\"superseded\"" : "\",\"state\":\"accepted\"", to: &bytes)
        Self.add(isDuplicate ? ",\"duplicate\":true" : ",\"duplicate\":false", to: &bytes)
        if !ignored.isEmpty {
            Self.add(",\"ignored\":", to: &bytes)
            bytes.append(contentsOf: JSONValue.array(ignored.map(JSONValue.string)).serializedBytes)
        }
        Self.add("}}", to: &bytes)
    }

    private static func add(_ text: StaticString, to bytes: inout [UInt8]) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}
