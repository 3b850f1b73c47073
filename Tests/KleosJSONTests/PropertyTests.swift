import KleosJSON
import KleosSupport
import Testing

/// Properties that hold for any text; a failure names its seed.
@Suite struct PropertyTests {
    @Test(arguments: UInt64(0)..<200)
    func whatIsWrittenIsReadBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = Self.value(depth: 6, &random)
        let bytes = value.serializedBytes
        #expect(!bytes.contains(UInt8(ascii: "\n")))
        #expect(try JSONParser.parse(bytes) == value)
        #expect(try JSONParser.parse(bytes).serializedBytes == bytes)
    }

    @Test(arguments: UInt64(0)..<200)
    func damagedTextIsRefusedOrReadTheSameWayTwice(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let original = Self.value(depth: 5, &random).serializedBytes
        for _ in 0..<20 {
            let bytes = Self.damaged(original, &random)
            do {
                let value = try JSONParser.parse(bytes)
                #expect(try JSONParser.parse(value.serializedBytes) == value)
                // What is accepted is UTF-8: decoding repairs nothing.
                #expect(Array(String(decoding: bytes, as: UTF8.self).utf8) == bytes)
            } catch {
                #expect((0...bytes.count).contains(error.offset))
                #expect(!error.problem.isEmpty)
            }
        }
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3:
            return .number(JSONNumber(text: "\(Int.random(in: -99...99, using: &random)).250e-\(random.next() % 40)"))
        case 4: return .string(text(&random))
        case 5:
            let count = Int.random(in: 0..<5, using: &random)
            return .array((0..<count).map { _ in value(depth: depth - 1, &random) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0..<25, using: &random) {
                object[text(&random)] = value(depth: depth - 3, &random)
            }
            return .object(object)
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
            let limits: [UInt32] = [0x20, 0x80, 0x800, 0x1_0000, 0x11_0000]
            let limit = limits[Int.random(in: 0..<limits.count, using: &random)]
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) { text.append(scalar) }
        }
        return String(text)
    }

    private static func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch random.next() % 4 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(Array(#"{}[],:"\u0e-1 "#.utf8).randomElement(using: &random) ?? 0, at: index)
        default: bytes.removeSubrange(index...)
        }
        return bytes
    }
}
