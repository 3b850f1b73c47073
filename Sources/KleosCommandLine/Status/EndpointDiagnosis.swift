import KleosModel
import KleosWire

/// Why nothing reaches one endpoint. Pure.
struct EndpointDiagnosis {
    private let endpoint: EndpointRow
    private let machine: MachineRow
    private let now: Int64

    init(_ endpoint: EndpointRow, _ machine: MachineRow, now: Int64) {
        self.endpoint = endpoint
        self.machine = machine
        self.now = now
    }

    var findings: [Finding] {
        var findings: [Finding] = []
        if endpoint.condition != "up" { findings.append(trouble) }
        if let throttled = throttled ?? partlyThrottled { findings.append(throttled) }
        findings += held
        if let waiting { findings.append(waiting) }
        if let dead { findings.append(dead) }
        return findings
    }

    // MARK: Words

    private var name: String { Printable.text(endpoint.name) }
    private var url: String { Printable.text(endpoint.url) }
    /// Host and perhaps port.
    private var host: String {
        guard let start = endpoint.url.firstRange(of: "://")?.upperBound else { return url }
        return Printable.text(String(endpoint.url[start...].prefix { $0 != "/" }))
    }
    private var isLocal: Bool {
        host.hasPrefix("127.") || host.hasPrefix("localhost") || host.hasPrefix("[::1]")
    }
    private var span: String { endpoint.sinceMilliseconds.map { " for \(AgeText.span(now - $0))" } ?? "" }
    private var detail: String? { endpoint.lastError ?? endpoint.reason }
    private var resume: String { "kleos resume \(name) lets it go on" }
    private var again: String {
        let next = endpoint.nextProbeMilliseconds.map { ", next \(AgeText.until(milliseconds: $0 - now))" } ?? ""
        return "kleos tries again by itself\(next)"
    }

    private func finding(_ level: Finding.Level, _ cause: String, _ text: String, _ advice: String) -> Finding {
        Finding(
            level, endpoint.name, cause, "\(name) (\(url)) is \(endpoint.condition)\(span): \(text).",
            detail: detail.map { "last error: \(Printable.text($0))" }, advice: "\(advice).")
    }

    // MARK: Failing and paused

    private var trouble: Finding {
        let cause = endpoint.cause.flatMap(TroubleCause.init)
        switch cause {
        case .credentials, .rejecting, .paused, .unconfigured: return paused(cause)
        case .certificateExpired, .certificateNotYetValid, .tls: return insecure(cause)
        case .dns, .unreachable, .timeout, .refused: return unreached(cause)
        case .broken:
            return finding(
                .warning, "broken", "connections to \(host) break off", "See that the service is well. \(again)")
        case .unusable:
            return finding(
                .critical, "unusable", "its address cannot be used",
                "Correct URL= in its file (kleos config check), then run: kleos reload")
        case .unexpectedAnswer:
            return finding(
                .warning, "unexpected-answer",
                "something answers at \(host) that does not speak the endpoint's contract, as a captive portal, a proxy or "
                    + "another service does", "Sign in to the network, or check URL= in its file. \(again)")
        case .serverErrors:
            return finding(
                .warning, "server-errors", "the service fails by itself (HTTP 5xx)",
                "Tell whoever runs it. \(again)")
        case nil:
            return finding(.warning, endpoint.condition, Printable.text(endpoint.reason ?? "no reason is given"), again)
        }
    }

    private func paused(_ cause: TroubleCause?) -> Finding {
        switch cause {
        case .credentials:
            return finding(
                .critical, "credentials", "it refuses the credentials that kleos has for it",
                "Correct the token in the file that TokenFile= names, run: kleos reload; then \(resume)")
        case .rejecting:
            return finding(
                .critical, "rejecting",
                "it has refused everything (rejecting), and never confirmed anything, so that its "
                    + "address may be wrong; nothing is given up for that",
                "Check URL= in its file, run: kleos reload; then \(resume)")
        case .unconfigured:
            return finding(
                .warning, "unconfigured", "it is not in the configuration, and there are events for it",
                "Give it a file in endpoints.d and run: kleos reload; or discard them: kleos discard --endpoint \(name)"
            )
        default:
            let words = endpoint.reason.map { ": \(Printable.text($0))" } ?? ""
            return Finding(
                .warning, endpoint.name, "paused",
                "\(name) (\(url)) is paused\(span)\(words). Events are taken and kept meanwhile.",
                advice: "\(resume).")
        }
    }

    private func insecure(_ cause: TroubleCause?) -> Finding {
        let clock =
            machine.isClockSynchronized
            ? ""
            : ", or this machine's clock is wrong (it says \(Timestamp.text(milliseconds: machine.timeMilliseconds ?? now)) "
                + "and nothing keeps it right)"
        switch cause {
        case .certificateExpired:
            return finding(
                .critical, "certificate-expired", "the certificate of \(host) has expired\(clock)",
                "Tell whoever runs the service to renew it, or set the clock. \(again)")
        case .certificateNotYetValid:
            return finding(
                .critical, "certificate-not-yet-valid", "the certificate of \(host) is not valid yet\(clock)",
                "Set the clock of this machine, as with: timedatectl set-ntp true. \(again)")
        default:
            return finding(
                .critical, "tls", "no secure connection to \(host) comes about",
                "See what the last error says; CertificateAuthorities= names an authority of your own. \(again)")
        }
    }

    private func unreached(_ cause: TroubleCause?) -> Finding {
        if !machine.hasNetwork, !isLocal {
            return finding(
                .warning, "no-network", "this machine has no network, so that \(host) cannot be reached",
                "Connect it; events are kept, and kleos goes on by itself as soon as there is a network")
        }
        switch cause {
        case .dns:
            return finding(
                .warning, "dns", "the name \(host) cannot be resolved (DNS)",
                "Check URL= in its file and this machine's name servers, as with: getent hosts \(host). \(again)")
        case .refused:
            return finding(
                .warning, "refused",
                "\(host) refuses connections: nothing listens there, or a firewall stands before it",
                "See that the service runs, and that URL= in its file is right. \(again)")
        case .timeout:
            return finding(
                .warning, "timeout", "\(host) does not answer in time",
                "See that the service is well and the network lets it through. \(again)")
        default:
            return finding(
                .warning, "unreachable", "no way leads to \(host)",
                "Check this machine's network and firewall. \(again)")
        }
    }

    // MARK: Throttled, held, waiting, dead

    private var throttled: Finding? {
        guard let until = endpoint.throttledUntilMilliseconds, until > now, endpoint.condition != "paused" else {
            return nil
        }
        return Finding(
            .note, endpoint.name, "throttled",
            "\(name) (\(url)) is throttled: it asked to be left alone until \(Timestamp.text(milliseconds: until)), "
                + "\(AgeText.until(milliseconds: until - now)).",
            advice: "kleos goes on by itself then. Where this comes often, lower RequestsPerMinute= in its file.")
    }

    /// The service asked to spare some players or boards, and takes what is of others.
    private var partlyThrottled: Finding? {
        guard let longest = endpoint.throttles.first, longest.untilMilliseconds > now, endpoint.condition != "paused"
        else { return nil }
        let count = max(endpoint.throttleCount, endpoint.throttles.count)
        var names = endpoint.throttles.compactMap { throttle in
            throttle.name.map { name in Printable.text(throttle.game.map { "\(name) of \($0)" } ?? name) }
        }
        if !names.isEmpty, count > names.count { names.append("\(count - names.count) more") }
        let who = Counted.text(count, longest.scope.rawValue) + (names.isEmpty ? "" : " (\(Counted.list(names)))")
        let until = longest.untilMilliseconds
        return Finding(
            .note, endpoint.name, "throttled",
            "\(name) (\(url)) is throttled for \(who), as it asked: those deliveries wait until "
                + "\(Timestamp.text(milliseconds: until)), \(AgeText.until(milliseconds: until - now))"
                + "\(count > 1 ? " at the latest" : ""). Others go on.",
            advice: "kleos goes on by itself then. Where this comes often, lower RequestsPerMinute= in its file.")
    }

    private var held: [Finding] {
        let count = endpoint.counts[.held] ?? 0
        guard count > 0 else { return [] }
        let isAll = count == endpoint.undelivered
        let reasons = endpoint.heldReasons.compactMap(DeliveryReason.init)
        let whys = reasons.map(Self.why).joined(separator: ", and ")
        let what =
            isAll
            ? "Everything that waits for \(name), \(Counted.text(count, "delivery", "deliveries")), is held"
            : "Of \(endpoint.undelivered) undelivered deliveries for \(name), \(Counted.text(count, "is held", "are held"))"
        return [
            Finding(
                isAll ? .warning : .note, endpoint.name, "held",
                what + (whys.isEmpty ? "." : ": \(whys)."), advice: advice(heldFor: reasons))
        ]
    }

    private static func why(_ reason: DeliveryReason) -> String {
        switch reason {
        case .operatorHold: "an operator wants it so"
        case .unconfigured: "the game or endpoint is not in the configuration"
        case .clone: "the queue came from another machine"
        case .restored: "the queue was restored from a backup, which does not know what was delivered since"
        default: reason.rawValue
        }
    }

    private func advice(heldFor reasons: [DeliveryReason]) -> String {
        var parts: [String] = []
        if reasons.contains(.operatorHold) { parts.append("kleos release --endpoint \(name) lets everything go on.") }
        if reasons.contains(.unconfigured) {
            parts.append("Configure the game or endpoint again and run: kleos reload.")
        }
        if reasons.contains(.restored) {
            parts.append("Compare with the service, discard what arrived, then run: kleos release --endpoint \(name)")
        }
        if reasons.contains(.clone) { parts.append("kleos adopt or kleos reset says how to go on.") }
        return parts.isEmpty ? "kleos list --state held --endpoint \(name) shows more." : parts.joined(separator: " ")
    }

    /// Some events' own trouble, at an endpoint that works for others.
    private var waiting: Finding? {
        let rest = endpoint.undelivered - (endpoint.counts[.held] ?? 0) - endpoint.inFlight
        guard endpoint.condition == "up", throttled == nil, partlyThrottled == nil, rest > 0,
            let error = endpoint.lastError
        else { return nil }
        return Finding(
            .note, endpoint.name, "waiting",
            "\(Counted.text(rest, "delivery waits for its", "deliveries wait for their")) next attempt at \(name) (\(url)).",
            detail: "last error: \(Printable.text(error))",
            advice:
                "kleos tries again by itself; kleos list --endpoint \(name) --state ready,waiting shows when, and kleos "
                + "flush tries now.")
    }

    private var dead: Finding? {
        guard endpoint.dead > 0 else { return nil }
        return Finding(
            .warning, endpoint.name, "dead",
            "\(Counted.text(endpoint.dead, "delivery to \(name) was", "deliveries to \(name) were")) given up (dead).",
            advice:
                "kleos list --state dead --endpoint \(name) and kleos show say why; then kleos retry or kleos discard.")
    }
}
