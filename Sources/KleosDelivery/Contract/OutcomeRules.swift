import KleosJSON
import KleosModel

/// The outcome rules of the default contract. Pure.
///
/// | answer | outcome | endpoint |
/// |---|---|---|
/// | no complete answer | retry | failing |
/// | 200, 201 with `"accepted": true` | delivered | healthy |
/// | 2xx with a page, or with `"accepted": false` | retry | failing (a captive portal answers like this) |
/// | any other 2xx | retry; may have taken effect: the answer may have been cut off | failing |
/// | 3xx | retry | failing (redirects are not followed) |
/// | 401; 403 with `{"error": {"code", "message"}}` | credentials | – |
/// | any other 403; 407, 511 | retry | failing (a firewall, proxy or captive portal answers like this) |
/// | 409 | retry (the first request with this key is still at work) | – |
/// | 408, 425 | retry | server error |
/// | 422 `idempotency-key-reused` after an unanswered attempt | already-done | healthy |
/// | 400, 422 with `{"error": {"code", "message"}}` | permanent, authentic | healthy |
/// | 429, and 503 with a Retry-After that names a time ahead | throttled | – |
/// | any other 5xx | retry; may have taken effect but for `effectless` | server error |
/// | any other 4xx | permanent | rejecting |
/// | anything else | retry; may have taken effect | failing |
package enum OutcomeRules {
    /// Statuses of 500 and above that say that nothing was done; those above 520 are a content network's, which did not
    /// reach its origin.
    private static let effectless: Set<Int> = [501, 503, 505, 507, 508, 511, 521, 523, 525, 526]

    /// Judges how a request ended. `hadUnansweredAttempt` says that an earlier attempt may have taken effect; what
    /// `filter` finds of the endpoint's token is in no text of the verdict.
    package static func judge(
        _ result: TransportResult, hadUnansweredAttempt: Bool, nowMilliseconds: Int64,
        filter: SecretFilter = SecretFilter(nil)
    ) -> Verdict {
        switch result.answer {
        case .failure(let failure):
            return Verdict(
                failure.kind == .cancelled ? .interrupted : .retry, message: filter.clean(failure.message),
                endpointEffect: failure.kind == .cancelled ? .none : .failing, cause: failure.kind.cause,
                mayHaveTakenEffect: result.didSendRequest)
        case .success(let answer):
            return judge(
                answer, hadUnansweredAttempt: hadUnansweredAttempt, nowMilliseconds: nowMilliseconds, filter: filter)
        }
    }

    private static func judge(
        _ answer: TransportAnswer, hadUnansweredAttempt: Bool, nowMilliseconds: Int64, filter: SecretFilter
    ) -> Verdict {
        // A time that is not ahead, by this machine's clock, says nothing about when to come back.
        let retryAfter = answer.retryAfter.flatMap {
            RetryAfter.milliseconds($0, nowMilliseconds: nowMilliseconds)
        }.flatMap { $0 > 0 ? $0 : nil }
        let said = ServiceError(answer, filter)
        let message = said?.description ?? "the endpoint answered \(answer.status)"
        switch answer.status {
        case 200, 201: return confirmation(answer, filter)
        case 200..<300:
            return stranger(
                "the endpoint answered \(answer.status), which is not of the contract",
                mayHaveTakenEffect: !isPage(answer))
        // "See Other" is what comes after something was done.
        case 300..<400: return stranger(redirect(answer, filter), mayHaveTakenEffect: answer.status == 303)
        case 401: return Verdict(.credentials, message: message, endpointEffect: .none)
        case 403 where said != nil: return Verdict(.credentials, message: message, endpointEffect: .none)
        case 403, 407, 511:
            return stranger("\(message), but not in its own form: a firewall, a proxy or a captive portal does this")
        case 409: return Verdict(.retry, message: message, retryAfterMilliseconds: retryAfter, endpointEffect: .none)
        case 408, 425:
            return Verdict(.retry, message: message, retryAfterMilliseconds: retryAfter, endpointEffect: .serverError)
        case 422 where said?.code == "idempotency-key-reused" && hadUnansweredAttempt:
            return Verdict(.alreadyDone, confirmation: Confirmation(), message: message, endpointEffect: .healthy)
        case 400, 422:
            guard said != nil else { return Verdict(.permanent, message: message, endpointEffect: .rejecting) }
            return Verdict(.permanent, message: message, endpointEffect: .healthy, isAuthentic: true)
        case 429:
            return Verdict(.throttled, message: message, retryAfterMilliseconds: retryAfter, endpointEffect: .none)
        case 503 where retryAfter != nil:
            return Verdict(.throttled, message: message, retryAfterMilliseconds: retryAfter, endpointEffect: .none)
        case 500..<600:
            return Verdict(
                .retry, message: message, retryAfterMilliseconds: retryAfter, endpointEffect: .serverError,
                mayHaveTakenEffect: !effectless.contains(answer.status))
        case 400..<500: return Verdict(.permanent, message: message, endpointEffect: .rejecting)
        default: return stranger("\(message), which is no status of HTTP", mayHaveTakenEffect: true)
        }
    }

    private static func stranger(_ message: String, mayHaveTakenEffect: Bool = false) -> Verdict {
        Verdict(
            .retry, message: message, endpointEffect: .failing, cause: .unexpectedAnswer,
            mayHaveTakenEffect: mayHaveTakenEffect)
    }

    /// Whether the body is a page for people, which no service gives that took the event in.
    private static func isPage(_ answer: TransportAnswer) -> Bool {
        if answer.contentType?.lowercased().hasPrefix("text/html") == true { return true }
        return answer.body.prefix(256).first { !($0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0)) } == UInt8(ascii: "<")
    }

    // Texts are cleaned before they are cut: half a token is one, too.
    private static func redirect(_ answer: TransportAnswer, _ filter: SecretFilter) -> String {
        let target = answer.location.map { " to \(ExactText.clipped(filter.clean($0), maximumBytes: 200))" } ?? ""
        return "the endpoint redirects\(target), which is not followed; a captive portal does this, "
            + "or URL= needs the new address"
    }

    /// A longer best is no score, and not kept.
    private static let maximumBestBytes = 128

    private static func confirmation(_ answer: TransportAnswer, _ filter: SecretFilter) -> Verdict {
        let limits = JSONLimits(depth: 64, maximumBytes: 1 << 20)
        guard let body = try? JSONParser.parse(answer.body, limits: limits), body.objectValue != nil else {
            return stranger(unreadable(answer, filter), mayHaveTakenEffect: !isPage(answer))
        }
        guard body["accepted"]?.boolValue == true else {
            return stranger(
                "the endpoint answered \(answer.status) without \"accepted\": true",
                mayHaveTakenEffect: body["accepted"]?.boolValue != false)
        }
        let confirmation = Confirmation(
            rank: body["rank"]?.int64Value.flatMap { $0 >= 1 ? $0 : nil },
            best: (body["best"]?.stringValue.map(filter.clean) ?? body["best"]?.numberValue?.text).flatMap {
                $0.utf8.count <= Self.maximumBestBytes ? $0 : nil
            },
            changed: body["improved"]?.boolValue ?? body["new"]?.boolValue, unlocked: body["unlocked"]?.boolValue)
        return Verdict(.delivered, confirmation: confirmation, endpointEffect: .healthy)
    }
}

extension OutcomeRules {
    private static func unreadable(_ answer: TransportAnswer, _ filter: SecretFilter) -> String {
        let start = "the endpoint answered \(answer.status) with"
        if answer.body.isEmpty { return "\(start) nothing after it: the answer may have been cut off" }
        if answer.body.first == UInt8(ascii: "{") { return "\(start) JSON that breaks off or is wrong" }
        let type = answer.contentType.map { " (\(ExactText.clipped(filter.clean($0), maximumBytes: 80)))" } ?? ""
        return "\(start) something else than JSON\(type): a captive portal, or URL= leads elsewhere"
    }
}

/// An error in the contract's own form: `{"error": {"code": "…", "message": "…"}}`.
private struct ServiceError: CustomStringConvertible {
    let status: Int
    let code: String
    let message: String?

    init?(_ answer: TransportAnswer, _ filter: SecretFilter) {
        guard let body = try? JSONParser.parse(answer.body, limits: JSONLimits(depth: 64, maximumBytes: 1 << 20)),
            let code = body["error"]?["code"]?.stringValue
        else { return nil }
        status = answer.status
        self.code = filter.clean(code)
        message = (body["error"]?["message"]?.stringValue).map(filter.clean)
    }

    var description: String {
        let words = message.map { ": \(ExactText.clipped($0, maximumBytes: 500))" } ?? ""
        return "the endpoint answered \(status) \(ExactText.clipped(code, maximumBytes: 100))\(words)"
    }
}

extension TransportFailure.Kind {
    /// What an endpoint with such trouble suffers from; nil where it has none.
    fileprivate var cause: TroubleCause? {
        switch self {
        case .dns: .dns
        case .refused: .refused
        case .unreachable: .unreachable
        case .timeout: .timeout
        case .certificateExpired: .certificateExpired
        case .certificateNotYetValid: .certificateNotYetValid
        case .tls: .tls
        case .broken: .broken
        case .tooLarge: .unexpectedAnswer
        case .unusable: .unusable
        case .cancelled: nil
        }
    }
}
