import KleosDelivery
import KleosJSON
import KleosModel

/// An answer as HTTP has it: a line with the status, lines with headers, an empty line, the body.
enum VerdictFuzz {
    private static let nowMilliseconds: Int64 = 1_796_014_175_123

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let answer = answer(in: bytes) else { return }
        if let retryAfter = answer.retryAfter { try checkRetryAfter(retryAfter) }
        for hadUnanswered in [false, true] {
            let result = TransportResult(answer: .success(answer), didSendRequest: true, durationMilliseconds: 1)
            let verdict = OutcomeRules.judge(
                result, hadUnansweredAttempt: hadUnanswered, nowMilliseconds: nowMilliseconds)
            try check(verdict, of: answer, hadUnanswered: hadUnanswered)
        }
    }

    private static func check(
        _ verdict: Verdict, of answer: TransportAnswer, hadUnanswered: Bool
    ) throws(FuzzFailure) {
        let body = (try? JSONParser.parse(answer.body, limits: JSONLimits(depth: 64)))?.objectValue
        let isConfirmed = [200, 201].contains(answer.status) && body?["accepted"] == .bool(true)
        try require((verdict.outcome == .delivered) == isConfirmed, "\(answer.status) counts as \(verdict.outcome)")
        try require(
            verdict.outcome != .alreadyDone || (answer.status == 422 && hadUnanswered),
            "\(answer.status) counts as already done")
        try require(
            verdict.outcome != .permanent || (400..<500).contains(answer.status), "\(answer.status) counts as final")
        try require(
            !verdict.isAuthentic || body?["error"]?["code"]?.stringValue != nil,
            "a stranger's answer counts as the service's own")
        try require(
            verdict.confirmation != nil || verdict.message?.isEmpty == false, "nothing is said about \(answer.status)")
        try require(
            (verdict.message?.utf8.count ?? 0) <= 2_048, "a sentence of \(verdict.message?.utf8.count ?? 0) bytes")
        try require((verdict.confirmation?.best?.utf8.count ?? 0) <= 128, "a best that no score is as long as")
        try require((verdict.confirmation?.rank ?? 1) >= 1, "a rank of \(verdict.confirmation?.rank ?? 0)")
        if let wait = verdict.retryAfterMilliseconds {
            try require((0...86_400_000).contains(wait), "a wait of \(wait) ms")
        }
    }

    /// Digits are seconds; anything that is neither digits nor a date is nothing.
    private static func checkRetryAfter(_ text: String) throws(FuzzFailure) {
        let wait = RetryAfter.milliseconds(text, nowMilliseconds: nowMilliseconds)
        if let wait { try require((0...86_400_000).contains(wait), "Retry-After: \(text) waits \(wait) ms") }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        if isNumber {
            let seconds = min(Double(text) ?? 0, 86_400)
            try require(wait == Int64(seconds) * 1_000, "Retry-After: \(text) waits \(wait ?? -1) ms")
        } else if wait != nil {
            let isDate = text.contains("GMT") || text.contains { $0 >= "0" && $0 <= "9" }
            try require(isDate, "Retry-After: \(text) is taken for a time")
        }
    }

    private static func answer(in bytes: [UInt8]) -> TransportAnswer? {
        var lines = bytes.split(separator: 0x0A, maxSplits: 8, omittingEmptySubsequences: false)[...]
        guard let first = lines.popFirst(), let status = Int(String(decoding: first, as: UTF8.self)),
            (0...999).contains(status)
        else { return nil }
        var answer = TransportAnswer(status: status, body: [])
        while let line = lines.popFirst(), !line.isEmpty {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2 else { continue }
            // Curl hands over what stands after the colon without the space around it.
            let value = String(decoding: parts[1].drop { $0 == 0x20 }, as: UTF8.self)
            switch String(decoding: parts[0], as: UTF8.self) {
            case "Content-Type": answer.contentType = value
            case "Retry-After": answer.retryAfter = value
            case "Location": answer.location = value
            default: break
            }
        }
        answer.body = Array(lines.joined(separator: [0x0A]))
        return answer
    }
}
