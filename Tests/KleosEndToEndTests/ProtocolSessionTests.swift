import Glibc
import KleosJSON
import KleosSupport
import KleosTestSupport
import KleosWire
import Testing

/// The session in docs/protocol.md is what a real daemon says.
@Suite("Session of the protocol's page")
struct ProtocolSessionTests {
    /// One line of the page, with who writes or reads it.
    struct Step {
        var client: String
        var isSent: Bool
        var line: String
    }

    @Test func isTrue() throws {
        let scenario = try Scenario(endpoint: "")
        try scenario.daemon.start()
        let clients = [
            "game": try LineClient(path: scenario.daemon.socketPath),
            "operator": try LineClient(path: scenario.daemon.controlPath),
        ]
        let steps = try Self.steps()
        try #require(steps.count { !$0.isSent } > 20)
        var comparison = SessionComparison()
        for step in steps {
            let client = try #require(clients[step.client])
            if step.isSent {
                try client.send(step.line)
            } else {
                let line = try #require(try client.nextLine(), "nothing came in place of \(step.line)")
                let expected = try JSONParser.parse(Array(step.line.utf8), limits: JSONLimits(depth: 64))
                let actual = try JSONParser.parse(Array(line.utf8), limits: JSONLimits(depth: 64))
                let isSame = comparison.matches(expected, actual)
                #expect(isSame, "the page says \(step.line), the daemon \(line)")
            }
        }
        scenario.daemon.stop()
    }

    private static func steps() throws -> [Step] {
        var client: String?
        var steps: [Step] = []
        let text = try SmallFile.readText(at: Scenario.repositoryPath("docs/protocol.md"))
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```session ") {
                client = String(line.dropFirst("```session ".count))
            } else if line.hasPrefix("```") {
                client = nil
            } else if let client {
                try #require(line.hasPrefix("> ") || line.hasPrefix("< "), "\(line)")
                steps.append(Step(client: client, isSent: line.hasPrefix(">"), line: String(line.dropFirst(2))))
            }
        }
        return steps
    }
}

/// Compares what the page says with what came: keys have to correspond, and what differs from machine to machine only
/// has to be there.
private struct SessionComparison {
    private var keys: [String: String] = [:]

    private static let variable: Set<String> = [
        "user", "uid", "pid", "executable", "unit", "path", "url", "usedBytes", "limitBytes", "freeBytes", "floorBytes",
        "uptimeSeconds", "durationMilliseconds", "clockSynchronized", "version",
    ]

    mutating func matches(_ expected: JSONValue, _ actual: JSONValue) -> Bool {
        switch (expected, actual) {
        case (.object(let expected), .object(let actual)):
            let names = expected.names.filter { $0 != "unit" }
            guard names == actual.names.filter({ $0 != "unit" }) else { return false }
            for name in names where !Self.variable.contains(name) {
                guard let left = expected[name], let right = actual[name], matches(left, right) else { return false }
            }
            return true
        case (.array(let expected), .array(let actual)):
            guard expected.count == actual.count else { return false }
            for (left, right) in zip(expected, actual) {
                guard matches(left, right) else { return false }
            }
            return true
        case (.string(let expected), .string(let actual)): return matches(expected, actual)
        default: return expected == actual
        }
    }

    private mutating func matches(_ expected: String, _ actual: String) -> Bool {
        if Self.isTime(expected) { return Self.isTime(actual) }
        guard Self.isKey(expected) else { return expected == actual }
        if let known = keys[expected] { return known == actual }
        guard Self.isKey(actual), !keys.values.contains(actual) else { return false }
        keys[expected] = actual
        return true
    }

    private static func isTime(_ text: String) -> Bool {
        text.utf8.count == 24 && text.hasSuffix("Z") && text.dropFirst(10).hasPrefix("T")
    }

    private static func isKey(_ text: String) -> Bool {
        text.utf8.count == 36 && text.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12]
    }
}

/// A client that sends and reads lines; a wait ends after a generous time.
private final class LineClient {
    private let descriptor: FileDescriptor
    private var framer = LineFramer(maximumBytes: 1 << 20)

    init(path: String) throws(SystemError) {
        descriptor = try UnixSocket.connect(to: path)
        var limit = timeval(tv_sec: Int(Patience.limitMilliseconds) / 1_000, tv_usec: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    func send(_ line: String) throws(SystemError) {
        try descriptor.writeAll(Array("\(line)\n".utf8))
    }

    /// The next line; nil at the end of the connection. Throws `SystemError`, also where nothing comes in time.
    func nextLine() throws(SystemError) -> String? {
        while true {
            if case .line(let bytes)? = framer.next() { return String(decoding: bytes, as: UTF8.self) }
            let bytes = try descriptor.read(limitBytes: 65_536)
            guard !bytes.isEmpty else { return nil }
            framer.append(bytes)
        }
    }
}
