import KleosDelivery
import Testing

@Suite(.timeLimit(.minutes(30))) struct CutAnswerTests {
    private static let body = #"{"error":{"code":"x"}}"#
    private static let whole = "HTTP/1.1 404 Not Found\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"

    /// A refusal that is taken for whole where it is not could bury an event.
    @Test(arguments: 0..<whole.utf8.count)
    func anAnswerThatIsCutAnywhereIsNone(_ length: Int) throws {
        let server = try RawServer(.answerThenClose(String(Self.whole.prefixOfBytes(length))))
        let exchange = sharedLine.begin(post(server.url))
        #expect(try exchange.failure().kind == .broken)
        #expect(try exchange.result().didSendRequest)
    }

    @Test func theWholeAnswerIsOne() throws {
        let server = try RawServer(.answerThenClose(Self.whole))
        #expect(try sharedLine.begin(post(server.url)).answer().status == 404)
    }
}

extension String {
    fileprivate func prefixOfBytes(_ count: Int) -> String {
        String(decoding: utf8.prefix(count), as: UTF8.self)
    }
}
