import KleosJSON

/// The results of a run as text, as JSON or as Markdown.
package struct Report {
    private let ledger: Ledger
    private let machine: String

    /// Makes a report of what was measured on `machine`.
    package init(_ ledger: Ledger, machine: String) {
        self.ledger = ledger
        self.machine = machine
    }

    /// The report in `form`, line feed included.
    package func text(_ form: BenchOptions.Form) -> String {
        switch form {
        case .json: json
        case .text: tables { $0.text }
        case .markdown: tables { $0.markdown }
        }
    }

    private func tables(_ render: (TextTable) -> String) -> String {
        var parts = [machine + "\n", render(figures), render(times), render(aims)]
        if let unsteady { parts.append(unsteady + "\n") }
        if !ledger.skipped.isEmpty {
            parts.append(ledger.skipped.map { "Skipped: \($0)\n" }.joined())
        }
        return parts.joined(separator: "\n")
    }

    /// A warning where D itself changed much: what others do to the disk then says more than what was measured.
    private var unsteady: String? {
        let rates = ledger.all(Subject.sync, .perSecond)
        guard let low = rates.min(), let high = rates.max(), high > 2 * low else { return nil }
        return "The disk was unsteady: D went from \(Metric.perSecond.text(low)) to \(Metric.perSecond.text(high)) a "
            + "second. Trust processor time, pages and syncs more than ratios, and measure again."
    }

    /// Everything that has a rate: a line for each subject.
    private var figures: TextTable {
        let metrics: [Metric] = [
            .perSecond, .ratio, .p50Microseconds, .p99Microseconds, .cpuMicroseconds, .writtenKibibytes, .syncs,
            .memoryMebibytes,
        ]
        var table = TextTable(["measurement"] + metrics.map(\.heading))
        for subject in ledger.subjects where ledger.median(subject, .perSecond) != nil {
            table.add([subject] + metrics.map { text(subject, $0) })
        }
        return table
    }

    /// What stands alone: times and pages.
    private var times: TextTable {
        var table = TextTable(["measurement", "value", "unit", "lowest", "highest"])
        for subject in ledger.subjects where ledger.median(subject, .perSecond) == nil {
            for metric in Metric.allCases {
                let values = ledger.all(subject, metric)
                guard let low = values.min(), let high = values.max() else { continue }
                table.add([subject, text(subject, metric), metric.heading, metric.text(low), metric.text(high)])
            }
        }
        return table
    }

    private var aims: TextTable {
        var table = TextTable(["aim", "measured", "must", "", "aims", "reached"])
        for aim in AimTable.lines(ledger) {
            table.add([
                aim.title, aim.value.map { aim.metric.text($0) } ?? "-", words(aim.must, aim.metric),
                judgement(of: aim), aim.aims.map { words($0, aim.metric) }.joined(separator: ", "),
                aim.aims.isEmpty ? "" : "\(aim.reached) of \(aim.aims.count)",
            ])
        }
        return table
    }

    /// A ratio to D is no more than a hint where D itself swung.
    private func judgement(of aim: Aim) -> String {
        let isHint = aim.isInD && aim.value != nil && unsteady != nil
        return aim.judgement.rawValue + (isHint ? " (disk unsteady)" : "")
    }

    private func words(_ bound: Bound, _ metric: Metric) -> String {
        switch bound {
        case .atLeast: "≥ \(metric.text(bound.limit))"
        case .atMost: "≤ \(metric.text(bound.limit))"
        }
    }

    private func text(_ subject: String, _ metric: Metric) -> String {
        // Of memory the most that was ever held counts.
        let value = metric == .memoryMebibytes ? ledger.highest(subject, metric) : ledger.median(subject, metric)
        return value.map { metric.text($0) } ?? "-"
    }

    /// One object a line: the machine, each subject with the medians and all values, each aim.
    private var json: String {
        var lines: [JSONValue] = [["machine": .string(machine)]]
        for subject in ledger.subjects {
            var object = JSONObject()
            object["measurement"] = .string(subject)
            for metric in Metric.allCases {
                guard let median = ledger.median(subject, metric) else { continue }
                object[metric.rawValue] = number(median)
                object["\(metric.rawValue)Values"] = .array(ledger.all(subject, metric).map(number))
            }
            lines.append(.object(object))
        }
        lines += AimTable.lines(ledger).map { aim in
            [
                "aim": .string(aim.title), "value": aim.value.map(number) ?? .null, "must": number(aim.must.limit),
                "judgement": .string(judgement(of: aim)), "aims": .array(aim.aims.map { number($0.limit) }),
                "reached": .integer(aim.reached),
            ]
        }
        lines += ledger.skipped.map { ["skipped": .string($0)] }
        return lines.map { $0.serialized + "\n" }.joined()
    }

    private func number(_ value: Double) -> JSONValue {
        // Three places are more than a measurement tells.
        .number(JSONNumber(text: Decimal.text(value, places: 3).filter { $0 != "," }))
    }
}
