import KleosDelivery
import KleosModel
import Testing

struct OutcomeRulesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var result: TransportResult
        var outcome: Outcome
        var effect: Verdict.EndpointEffect
        var testDescription: String { "\(result.answer) is \(outcome)" }

        init(_ result: TransportResult, _ outcome: Outcome, _ effect: Verdict.EndpointEffect) {
            self.result = result
            self.outcome = outcome
            self.effect = effect
        }
    }

    private func judge(_ result: TransportResult, unanswered: Bool = false) -> Verdict {
        OutcomeRules.judge(result, hadUnansweredAttempt: unanswered, nowMilliseconds: 1_000_000)
    }

    static let rows: [Row] =
        TransportFailure.Kind.allCases.filter { $0 != .cancelled }.map { Row(failure($0), .retry, .failing) } + [
            Row(failure(.cancelled), .interrupted, .none),
            Row(answer(200, accepted), .delivered, .healthy),
            Row(answer(201, accepted), .delivered, .healthy),
            Row(answer(202, accepted), .retry, .failing),
            Row(answer(204), .retry, .failing),
            Row(answer(200), .retry, .failing),
            Row(answer(200, "<html>Log in to the hotel's network</html>"), .retry, .failing),
            Row(answer(200, "[true]"), .retry, .failing),
            Row(answer(200, #"{"accepted": "true"}"#), .retry, .failing),
            Row(answer(200, #"{"accepted": false}"#), .retry, .failing),
            Row(answer(200, accepted + accepted), .retry, .failing),
            Row(answer(301, accepted), .retry, .failing),
            Row(answer(302, location: "https://portal.example/"), .retry, .failing),
            Row(answer(401), .credentials, .none),
            Row(answer(403, contractError), .credentials, .none),
            Row(answer(403, "<html>blocked</html>"), .retry, .failing),
            Row(answer(407), .retry, .failing),
            Row(answer(511), .retry, .failing),
            Row(answer(409), .retry, .none),
            Row(answer(408), .retry, .serverError),
            Row(answer(425), .retry, .serverError),
            Row(answer(400, contractError), .permanent, .healthy),
            Row(answer(422, contractError), .permanent, .healthy),
            Row(answer(400), .permanent, .rejecting),
            Row(answer(422, "<html>"), .permanent, .rejecting),
            Row(answer(400, #"{"error": "no"}"#), .permanent, .rejecting),
            Row(answer(429), .throttled, .none),
            Row(answer(503, retryAfter: "7"), .throttled, .none),
            Row(answer(503, retryAfter: "soon"), .retry, .serverError),
            Row(answer(503, retryAfter: "0"), .retry, .serverError),
            Row(answer(503), .retry, .serverError),
            Row(answer(500, contractError), .retry, .serverError),
            Row(answer(599), .retry, .serverError),
            Row(answer(404), .permanent, .rejecting),
            Row(answer(405), .permanent, .rejecting),
            Row(answer(410), .permanent, .rejecting),
            Row(answer(0), .retry, .failing),
            Row(answer(100), .retry, .failing),
            Row(answer(600), .retry, .failing),
        ]

    @Test(arguments: rows)
    func everyAnswerHasItsMeaning(_ row: Row) {
        let verdict = judge(row.result)
        #expect(verdict.outcome == row.outcome)
        #expect(verdict.endpointEffect == row.effect)
        #expect(verdict.isAuthentic == (row.outcome == .permanent && row.effect == .healthy))
        #expect((verdict.confirmation != nil) == (row.outcome == .delivered))
    }

    @Test func aReusedKeyIsAlreadyDoneOnlyAfterAnUnansweredAttempt() {
        let reused = answer(422, #"{"error": {"code": "idempotency-key-reused", "message": "used"}}"#)
        #expect(judge(reused, unanswered: true).outcome == .alreadyDone)
        #expect(judge(reused, unanswered: true).endpointEffect == .healthy)
        #expect(judge(reused).outcome == .permanent)
        #expect(judge(answer(422, contractError), unanswered: true).outcome == .permanent)
    }

    @Test func theConfirmationHoldsWhatTheEndpointSaid() {
        let score = judge(answer(200, #"{"accepted":true,"rank":3,"best":"99.50","improved":true}"#)).confirmation
        #expect(score == Confirmation(rank: 3, best: "99.50", changed: true))
        let achievement = judge(answer(200, #"{"accepted":true,"unlocked":true,"new":false}"#)).confirmation
        #expect(achievement == Confirmation(changed: false, unlocked: true))
        let odd = judge(answer(200, #"{"accepted":true,"rank":0,"best":12345678901234567890,"improved":1}"#))
        #expect(odd.confirmation == Confirmation(best: "12345678901234567890"))
    }

    @Test func onlyAnIncompleteExchangeMayHaveTakenEffect() {
        #expect(judge(failure(.timeout, didSend: true)).mayHaveTakenEffect)
        #expect(!judge(failure(.refused)).mayHaveTakenEffect)
        #expect(judge(failure(.cancelled, didSend: true)).mayHaveTakenEffect)
        for status in [500, 502, 504, 520, 522, 524] { #expect(judge(answer(status)).mayHaveTakenEffect) }
        for status in [401, 404, 429, 501, 503, 521] { #expect(!judge(answer(status)).mayHaveTakenEffect) }
        for status in [0, 100, 202, 204, 303, 600] { #expect(judge(answer(status)).mayHaveTakenEffect) }
        for body in ["", #"{"accep"#, "[]", "thanks", #"{"ok":true}"#, accepted + "}"] {
            #expect(judge(answer(200, body)).mayHaveTakenEffect, "\(body)")
        }
        for body in [" <html>", "\u{FEFF}<!DOCTYPE html>", #"{"accepted":false}"#] {
            #expect(!judge(answer(200, body)).mayHaveTakenEffect, "\(body)")
        }
    }

    @Test func theMessageTellsTheServicesWordsAndTheRedirectsTarget() {
        #expect(judge(answer(422, contractError)).message == "the endpoint answered 422 invalid-value: no")
        #expect(judge(answer(302, location: "https://portal.example/")).message?.contains("portal.example") == true)
    }

    @Test func retryAfterIsPassedOn() {
        #expect(judge(answer(429, retryAfter: "7")).retryAfterMilliseconds == 7_000)
        #expect(judge(answer(500, retryAfter: "7")).retryAfterMilliseconds == 7_000)
        #expect(judge(answer(429)).retryAfterMilliseconds == nil)
        #expect(judge(answer(429, retryAfter: "0")).retryAfterMilliseconds == nil, "no time ahead")
    }

    @Test func keepsABestThatAScoreCanHave() {
        func best(_ text: String) -> String? {
            judge(answer(200, #"{"accepted": true, "best": \#(text)}"#)).confirmation?.best
        }
        #expect(best(#""1:23.45""#) == "1:23.45")
        #expect(best("12.50") == "12.50")
        #expect(best("\"\(String(repeating: "9", count: 129))\"") == nil)
        #expect(best(String(repeating: "9", count: 100_000)) == nil)
    }

    @Test func cutsTheServicesWordsShort() throws {
        let marks = "e" + String(repeating: "\u{301}", count: 100_000)
        let error = judge(answer(422, #"{"error": {"code": "\#(marks)", "message": "\#(marks)"}}"#))
        #expect(try #require(error.message).utf8.count < 700)
        let redirect = judge(answer(302, location: marks))
        #expect(try #require(redirect.message).utf8.count < 500)
    }
}
