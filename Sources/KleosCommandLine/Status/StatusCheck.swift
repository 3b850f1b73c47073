import KleosConfig
import KleosJSON
import KleosModel
import KleosWire

/// `kleos status --check`: one line and an exit code for monitoring.
struct StatusCheck {
    static let options = [
        OptionSpecification("check", nil, "Print one line for monitoring, and exit with 0, 1 or 2."),
        OptionSpecification(
            "warning-age", "TIME", "With --check: warn where something is undelivered for longer; by default 1h."),
        OptionSpecification(
            "critical-age", "TIME", "With --check: critical where something is undelivered for longer; by default 1d."),
        OptionSpecification(
            "warning-free", "SIZE",
            "With --check: warn where less is left before new events are refused; by default 64M."),
        OptionSpecification(
            "critical-free", "SIZE", "With --check: critical where less is left; by default 0, when they are refused."),
    ]

    private struct Bounds {
        var warning: Int64
        var critical: Int64
    }

    private let age: Bounds
    private let free: Bounds

    init(_ invocation: Invocation) throws(CommandFailure) {
        age = Bounds(
            warning: try Self.seconds("warning-age", invocation) ?? 3_600,
            critical: try Self.seconds("critical-age", invocation) ?? 86_400)
        free = Bounds(
            warning: try Self.bytes("warning-free", invocation) ?? 64 << 20,
            critical: try Self.bytes("critical-free", invocation) ?? 0)
        guard age.warning <= age.critical, free.warning >= free.critical else {
            throw .usage("a warning comes before what is critical", hint: "exchange the two values")
        }
    }

    private static func seconds(_ name: String, _ invocation: Invocation) throws(CommandFailure) -> Int64? {
        guard let text = invocation.value(name) else { return nil }
        guard let value = DurationText.milliseconds(text) else {
            throw .usage("\(text) is no time for --\(name)", hint: "write it as 90s, 10min, 6h or 2d")
        }
        return value / 1_000
    }

    private static func bytes(_ name: String, _ invocation: Invocation) throws(CommandFailure) -> Int64? {
        guard let text = invocation.value(name) else { return nil }
        guard let value = SizeText.bytes(text) else {
            throw .usage("\(text) is no size for --\(name)", hint: "write it as 512K, 64M or 2G")
        }
        return value
    }

    func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let json: JSONValue
        do throws(CommandFailure) {
            json = try session.request(.status)
        } catch {
            let finding = Finding(
                .critical, "daemon", error.reason ?? "no-answer", error.message,
                advice: error.hint ?? "See the daemon's log.")
            return tell([finding], nil, session)
        }
        let status = StatusAnswer(json: json)
        let findings = StatusDiagnosis.findings(status, nowMilliseconds: session.nowMilliseconds)
        return tell(
            Self.fault(status) + Self.spool(status) + findings + limits(status, now: session.nowMilliseconds), status,
            session)
    }

    private static func fault(_ status: StatusAnswer) -> [Finding] {
        guard let fault = status.fault else { return [] }
        // Operators alone are told which.
        let first = fault.split(separator: "\n").first ?? "the daemon's log says which"
        return [
            Finding(
                .critical, "daemon", "configuration",
                "The configuration has errors; nothing is taken or sent: \(Printable.text(String(first))).",
                advice: "Mend it, then run: kleos reload")
        ]
    }

    private static func spool(_ status: StatusAnswer) -> [Finding] {
        guard let trouble = status.spool?.trouble else { return [] }
        return [
            Finding(
                .warning, "spool", "spool", "The spool cannot be used: \(Printable.text(trouble)).",
                advice: "Mend it; what clients leave there waits.")
        ]
    }

    // MARK: Thresholds

    private static func room(_ status: StatusAnswer) -> Int64 {
        max(0, min(status.freeBytes - status.floorBytes, status.limitBytes - status.usedBytes))
    }

    private static func ageSeconds(_ endpoint: EndpointRow, now: Int64) -> Int64 {
        endpoint.oldestUndeliveredMilliseconds.map { max(0, now - $0) / 1_000 } ?? 0
    }

    private func limits(_ status: StatusAnswer, now: Int64) -> [Finding] {
        var findings: [Finding] = []
        for endpoint in status.endpoints {
            let seconds = Self.ageSeconds(endpoint, now: now)
            guard endpoint.undelivered > 0, seconds >= age.warning else { continue }
            findings.append(
                Finding(
                    seconds >= age.critical ? .critical : .warning, endpoint.name, "old",
                    "\(Counted.text(endpoint.undelivered, "delivery waits", "deliveries wait")) for "
                        + "\(Printable.text(endpoint.name)), since \(AgeText.span(seconds * 1_000)) at the longest.",
                    advice: "kleos status says what is in the way."))
        }
        let room = Self.room(status)
        if status.isAccepting, room < free.warning {
            findings.append(
                Finding(
                    room < free.critical ? .critical : .warning, "queue", "little-room",
                    "New events are refused after another \(ByteText.text(room)).",
                    advice: "Free disk space, or raise MaximumSize= in kleosd.conf."))
        }
        return findings
    }

    // MARK: Output

    private func tell(_ findings: [Finding], _ status: StatusAnswer?, _ session: Session) -> ExitCode {
        let worst = findings.map(\.level).max() ?? .note
        if session.isJSON {
            session.json(json(findings, status, worst, now: session.nowMilliseconds))
        } else {
            session.line(line(findings, status, worst, now: session.nowMilliseconds))
        }
        switch worst {
        case .note: return .success
        case .warning: return .failure
        case .critical: return .critical
        }
    }

    private static func word(_ level: Finding.Level) -> String {
        switch level {
        case .note: "ok"
        case .warning: "warning"
        case .critical: "critical"
        }
    }

    private func line(_ findings: [Finding], _ status: StatusAnswer?, _ worst: Finding.Level, now: Int64) -> String {
        let found = findings.filter { $0.level > .note }.sorted { $0.level > $1.level }
        var text = "KLEOS \(Self.word(worst).uppercased()): "
        if let first = found.first {
            text += "\(first.text) \(first.advice)"
            if found.count > 1 { text += " (and \(found.count - 1) more: kleos status)" }
        } else if let status {
            let undelivered = status.endpoints.reduce(0) { $0 + $1.undelivered }
            text += "\(Counted.text(undelivered, "delivery", "deliveries")) on the way, new events are taken"
            let notes = findings.map(\.text)
            if let note = notes.first { text += ". \(note)" }
            if notes.count > 1 { text += " (and \(notes.count - 1) more: kleos status)" }
        }
        // What comes behind a bar is for programs, and a line is a line.
        text = Printable.text(text.replacing("|", with: "/").replacing("\n", with: " "))
        guard let status else { return text }
        return "\(text) | \(performance(status, now: now).joined(separator: " "))"
    }

    private func performance(_ status: StatusAnswer, now: Int64) -> [String] {
        let oldest = status.endpoints.map { Self.ageSeconds($0, now: now) }.max() ?? 0
        var data = [
            "oldest_undelivered=\(oldest)s;\(age.warning);\(age.critical);0",
            "free_before_floor=\(Self.room(status))B;\(free.warning):;\(free.critical):;0",
        ]
        for endpoint in status.endpoints {
            let name = endpoint.name.replacing("'", with: "''").replacing("=", with: "_").replacing("|", with: "_")
            data.append("'\(name)_oldest'=\(Self.ageSeconds(endpoint, now: now))s;\(age.warning);\(age.critical);0")
            for state in DeliveryState.allCases {
                data.append("'\(name)_\(state.rawValue)'=\(endpoint.counts[state] ?? 0);;;0")
            }
        }
        return data.map(Printable.text)
    }

    private func json(
        _ findings: [Finding], _ status: StatusAnswer?, _ worst: Finding.Level, now: Int64
    ) -> JSONValue {
        var object = JSONObject()
        object["check"] = .string(Self.word(worst))
        object["findings"] = .array(
            findings.map { finding in
                [
                    "level": .string(Self.word(finding.level)), "subject": .string(finding.subject),
                    "cause": .string(finding.cause), "message": .string(finding.text),
                    "advice": .string(finding.advice),
                ]
            })
        guard let status else { return .object(object) }
        object["freeBeforeFloorBytes"] = .integer(Self.room(status))
        object["endpoints"] = .array(
            status.endpoints.map { endpoint in
                var counts = JSONObject()
                for state in DeliveryState.allCases { counts[state.rawValue] = .integer(endpoint.counts[state] ?? 0) }
                return [
                    "name": .string(endpoint.name), "condition": .string(endpoint.condition),
                    "oldestUndeliveredSeconds": .integer(Self.ageSeconds(endpoint, now: now)),
                    "counts": .object(counts),
                ]
            })
        return .object(object)
    }
}
