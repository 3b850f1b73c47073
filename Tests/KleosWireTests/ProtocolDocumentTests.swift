import FoundationEssentials
import KleosJSON
import KleosWire
import Testing

/// docs/protocol.md leaves nothing out. That its session is true is tested against a real daemon elsewhere.
@Suite struct ProtocolDocumentTests {
    let text: String

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        text = try String(decoding: Data(contentsOf: URL(filePath: "/\(root)/docs/protocol.md")), as: UTF8.self)
    }

    @Test(arguments: Method.allCases)
    func describesTheMethod(method: Method) {
        #expect(text.contains("\n### `\(method.rawValue)`"))
    }

    @Test(arguments: ErrorReason.allCases)
    func describesTheReason(reason: ErrorReason) {
        #expect(text.contains("| `\(reason.rawValue)` | \(reason.code) |"))
    }

    @Test(arguments: Topic.allCases)
    func describesTheTopic(topic: Topic) {
        #expect(text.contains("| `\(topic.rawValue)` | `\(topic.notificationMethod)` |"))
    }
}
