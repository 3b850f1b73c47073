import KleosModel
import KleosWire
import Testing

/// The form of a file in the spool.
@Suite("Spool: the file")
struct SpoolFileTests {
    private let submission = Submission(
        kind: .score, game: "minesweeper", player: "ada", leaderboard: "beginner", value: "8080",
        occurredAtMilliseconds: 1_790_000_000_123, clientID: "game-17", metadata: Array("{\"seed\":  \"4f1d\"}".utf8))

    private func reason(_ text: String) -> ErrorReason? {
        do throws(RPCError) {
            _ = try SpoolFile.parse(Array(text.utf8))
            return nil
        } catch {
            return error.knownReason
        }
    }

    @Test("What is written is read as the same event, metadata byte by byte")
    func roundTrip() throws {
        let file = SpoolFile(submission, spooledAtMilliseconds: 1_790_000_000_999)
        #expect(try SpoolFile.parse(file.bytes) == file)
        #expect(file.bytes.last == UInt8(ascii: "\n"))
    }

    @Test("A file without an id, of another form or too large is refused with the word of submit")
    func refusals() {
        let good = "{\"kind\":\"achievement\",\"game\":\"g\",\"achievement\":\"a\",\"id\":\"1\"}"
        #expect(reason(good) == nil)
        #expect(reason(good + "\n") == nil)
        #expect(reason(good.replacing(",\"id\":\"1\"", with: "")) == .idRequired)
        #expect(reason(good.replacing("\"g\"", with: "7")) == .invalidParameter)
        #expect(reason("[\(good)]") == .invalidRequest)
        #expect(reason(good + good) == .parseError)
        #expect(reason("") == .parseError)
        #expect(reason("{\"id\":1,\"id\":2}") == .parseError)
        #expect(reason(good + String(repeating: " ", count: SpoolFile.maximumBytes)) == .tooLarge)
    }

    @Test("A file has the name of its event's id, or a fresh one where that is no UUID")
    func names() {
        let fresh = EventKey(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0001)
        let own = EventKey(high: 0x0190_0000_0000_7abc, low: 0x8000_0000_0000_0002)
        #expect(SpoolFile.name(clientID: own.description, fresh: fresh) == "\(own).json")
        #expect(SpoolFile.name(clientID: "../../etc/passwd", fresh: fresh) == "\(fresh).json")
        #expect(SpoolFile.name(clientID: nil, fresh: fresh) == "\(fresh).json")
    }
}
