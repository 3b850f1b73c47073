import Glibc
import KleosClient
import KleosJSON
import KleosModel
import KleosTestSupport
import KleosWire
import Testing

@Suite struct ConnectionTests {
    private func withConversation(_ body: (KleosConnection, Talk) throws -> Void) throws {
        let daemon = try HandDaemon()
        let connection = try KleosConnection(path: daemon.path)
        try body(connection, try daemon.accept())
    }

    /// What `body` throws; nil where it succeeds.
    private static func failure<T>(_ body: () throws(ConnectionError) -> T) -> ConnectionError? {
        do throws(ConnectionError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func receivesAnswersInAnyOrder() throws {
        try withConversation { connection, talk in
            var parameters = JSONObject()
            parameters["limit"] = 3
            let one = try connection.send(.status)
            let two = try connection.send(.list, parameters)
            let requests = try talk.next(2)
            #expect(requests.map(\.method) == ["status", "list"])
            #expect(requests[1].parameters["limit"] == 3)
            try talk.answer(requests[1], "second")
            try talk.answer(requests[0], "first")
            #expect(try connection.receive(one) == "first")
            #expect(try connection.receive(two) == "second")
        }
    }

    @Test func keepsNotificationsThatComeBetweenAnswers() throws {
        try withConversation { connection, talk in
            let id = try connection.send(.subscribe)
            let request = try talk.next()
            try talk.write(RPCAnswer.notification(method: "delivery", parameters: ["number": 1]))
            try talk.answer(request, [:])
            try talk.write(RPCAnswer.notification(method: "notice", parameters: ["number": 2]))
            #expect(try connection.receive(id) == [:])
            let first = try connection.nextNotification()
            #expect(first?.method == "delivery")
            #expect(first?.parameters == ["number": 1])
            #expect(try connection.nextNotification(timeoutMilliseconds: 600_000)?.method == "notice")
            #expect(try connection.nextNotification(timeoutMilliseconds: 1)?.method == nil)
        }
    }

    @Test func tellsSilenceFromAnEnd() throws {
        try withConversation { connection, talk in
            #expect(
                Self.failure { () throws(ConnectionError) in
                    try connection.request(.status, timeoutMilliseconds: 1)
                } == .timedOut("request 1"))
            talk.hangUp()
            guard case .closed? = Self.failure({ () throws(ConnectionError) in try connection.request(.status) }) else {
                Issue.record("not closed")
                return
            }
        }
    }

    @Test func keepsTheReasonOfARefusal() throws {
        try withConversation { connection, talk in
            let id = try connection.send(.show)
            let refusal = RPCError(.notFound, "no such event", field: "key")
            try talk.refuse(try talk.next(), refusal)
            let failure = Self.failure { () throws(ConnectionError) in try connection.receive(id) }
            guard case .refused(let error)? = failure else {
                Issue.record("not refused: \(String(describing: failure))")
                return
            }
            #expect(error.knownReason == .notFound)
            #expect(error.field == "key")
            #expect(error.message == "no such event")
        }
    }

    @Test func triesOnePlaceAfterTheOther() throws {
        let daemon = try HandDaemon()
        let connection = try KleosConnection.open(["/nowhere/kleos.sock", daemon.path])
        #expect(connection.path == daemon.path)
        let failure = Self.failure { () throws(ConnectionError) in
            try KleosConnection.open(["/nowhere/kleos.sock", "/nor/here.sock"])
        }
        guard case .noDaemon(let reasons)? = failure else {
            Issue.record("another error: \(String(describing: failure))")
            return
        }
        #expect(reasons.count == 2)
        #expect(failure?.description.contains("/nowhere/kleos.sock") == true)
        #expect(failure?.description.contains("/nor/here.sock") == true)
    }
}
