import KleosModel
import Testing

/// Every class of status, as an answer that came whole.
@Suite(.timeLimit(.minutes(30))) struct StatusFaultTests {
    private static func answer(_ status: String, _ fields: [String] = [], body: String = "") -> RawServer.Reply {
        .answer(.http(status, fields, body: body))
    }

    private static let page = "<html>Log in to the hotel's network</html>"

    private static func confirmedBefore(_ fault: EndpointFault) -> EndpointFault {
        var fault = fault
        fault.isConfirmedBefore = true
        return fault
    }

    private static let success: [EndpointFault] = [
        EndpointFault("200 confirmed", answer("200 OK", body: accepted), .delivered, nil),
        EndpointFault("201 confirmed", answer("201 Created", body: accepted), .delivered, nil),
        EndpointFault(
            "100 and 103 before it",
            .answer(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                    + .http("200 OK", body: accepted)), .delivered, nil),
        EndpointFault(
            "a page with 200", answer("200 OK", ["Content-Type: text/html"], body: page), .repeated(.retry),
            "captive portal"),
        EndpointFault(
            "a page without type", answer("200 OK", body: " \r\n" + page), .repeated(.retry), "captive portal"),
        EndpointFault(
            "a page with 203", answer("203 Non-Authoritative Information", body: page), .repeated(.retry), "203"),
        EndpointFault(
            "refused with 200", answer("200 OK", body: #"{"accepted":false}"#), .repeated(.retry),
            "without \"accepted\": true"),
        .unclear("200 without the member", answer("200 OK", body: #"{"ok":true}"#), "without \"accepted\": true"),
        .unclear(
            "200 with another kind of member", answer("200 OK", body: #"{"accepted":"true"}"#),
            "without \"accepted\": true"),
        .unclear("200 with a list", answer("200 OK", body: "[true]"), "something else than JSON"),
        .unclear("200 with text", answer("200 OK", ["Content-Type: text/plain"], body: "thanks"), "(text/plain)"),
        .unclear("200 with nothing", answer("200 OK"), "nothing after it"),
        .unclear("200 with two confirmations", answer("200 OK", body: accepted + accepted), "breaks off or is wrong"),
        .unclear("202", answer("202 Accepted", body: accepted), "202, which is not of the contract"),
        .unclear("204", .answer("HTTP/1.1 204 No Content\r\n\r\n"), "204, which is not of the contract"),
        .unclear("205", answer("205 Reset Content"), "205, which is not of the contract"),
        .unclear(
            "206", answer("206 Partial Content", ["Content-Range: bytes 0-17/99"], body: accepted),
            "206, which is not of the contract"),
        .unclear("299", answer("299 Odd", body: accepted), "299, which is not of the contract"),
    ]

    private static let redirects: [EndpointFault] =
        [300, 301, 302, 307, 308].map { status in
            EndpointFault(
                "\(status)", answer("\(status) Elsewhere", ["Location: https://portal.example/login?x=1"]),
                .repeated(.retry), "redirects to https://portal.example/login?x=1, which is not followed")
        } + [
            .unclear("303", answer("303 See Other", ["Location: /scores/1"]), "redirects to /scores/1"),
            EndpointFault(
                "304", .answer("HTTP/1.1 304 Not Modified\r\n\r\n"), .repeated(.retry),
                "redirects, which is not followed"),
            EndpointFault(
                "302 to 8 KB",
                answer("302 Found", ["Location: https://x.example/" + String(repeating: "a", count: 3_000)]),
                .repeated(.retry), "https://x.example/aaa"),
        ]

    private static let refusals: [EndpointFault] =
        [
            EndpointFault("401", answer("401 Unauthorized", ["WWW-Authenticate: Bearer"]), .paused, "401"),
            EndpointFault(
                "403 of the service", answer("403 Forbidden", body: contractError), .paused, "403 invalid-value: no"),
            EndpointFault(
                "403 of a firewall", answer("403 Forbidden", body: page), .repeated(.retry), "a firewall, a proxy"),
            EndpointFault("407", answer("407 Proxy Authentication Required"), .repeated(.retry), "a firewall, a proxy"),
            EndpointFault(
                "511", answer("511 Network Authentication Required"), .repeated(.retry), "a firewall, a proxy"),
            EndpointFault(
                "400 of the service", answer("400 Bad Request", body: contractError), .dead(.rejected),
                "400 invalid-value: no"),
            EndpointFault(
                "422 of the service", answer("422 Unprocessable Content", body: contractError), .dead(.rejected),
                "422 invalid-value: no"),
            EndpointFault("408", answer("408 Request Timeout"), .repeated(.retry), "408"),
            EndpointFault("409", answer("409 Conflict"), .repeated(.retry), "409"),
            EndpointFault("425", answer("425 Too Early"), .repeated(.retry), "425"),
            EndpointFault("429", answer("429 Too Many Requests"), .repeated(.throttled), "429"),
        ]
        + [400, 402, 404, 405, 406, 410, 411, 413, 414, 415, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451, 499]
        .flatMap { status in
            let fault = EndpointFault(
                "\(status)", answer("\(status) No", body: page), .repeated(.permanent), "answered \(status)")
            var final = fault
            final.name = "\(status) of a service that confirmed others"
            (final.keyed, final.accumulating) = (.dead(.rejected), .dead(.rejected))
            return [fault, confirmedBefore(final)]
        }

    private static let errors: [EndpointFault] =
        [500, 502, 504, 506, 520, 522, 524, 599].map {
            .unclear("\($0)", answer("\($0) Trouble", body: page), "answered \($0)")
        }
        + [501, 503, 505, 507, 508, 521, 523, 525, 526].map {
            EndpointFault("\($0)", answer("\($0) Trouble"), .repeated(.retry), "answered \($0)")
        } + [
            .unclear("500 in the service's form", answer("500 Oops", body: contractError), "500 invalid-value: no"),
            .unclear("600", answer("600 Beyond", body: accepted), "no status of HTTP"),
            .unclear("999", answer("999 Request Denied", body: accepted), "no status of HTTP"),
            .unclear("000", answer("000 None", body: accepted), "is no HTTP"),
            .unclear("no number", answer("OK 200", body: accepted), "is no HTTP"),
            .unclear("two digits", answer("20 OK", body: accepted), "is no HTTP"),
            .unclear("four digits", answer("2000 OK", body: accepted), "is no HTTP"),
            .unclear("HTTP/9.9", .answerThenClose("HTTP/9.9 200 OK\r\n\r\n" + accepted), "is no HTTP"),
            .unclear("HTTP/0.9", .answerThenClose(accepted), "is no HTTP"),
            .unclear("another protocol", .answerThenClose("220 mail.example ESMTP\r\n"), "is no HTTP"),
            .unclear("100 and no more", .answerThenClose("HTTP/1.1 100 Continue\r\n\r\n"), "broke off: Empty reply"),
            .unclear(
                "101",
                .answerThenClose("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
                "broke off: Empty reply"),
            .unclear("199 and no more", .answerThenClose("HTTP/1.1 199 Odd\r\n\r\n"), "broke off: Empty reply"),
        ]

    @Test func successes() throws { try FaultBench.play("answers of success", Self.success) }
    @Test func redirections() throws { try FaultBench.play("redirections", Self.redirects) }
    @Test func refusalsOfTheRequest() throws { try FaultBench.play("refusals", Self.refusals) }
    @Test func troubleOfTheServer() throws { try FaultBench.play("errors of servers", Self.errors) }
}
