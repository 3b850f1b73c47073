import KleosModel
package import KleosWire

/// Why nothing is taken or delivered, read from an answer to `status`. Pure.
package enum StatusDiagnosis {
    /// All that is found, what concerns everything first.
    package static func findings(_ status: StatusAnswer, nowMilliseconds now: Int64) -> [Finding] {
        var findings = clone(status) + clock(status) + storage(status) + users(status) + setAside(status)
        for endpoint in status.endpoints {
            findings += EndpointDiagnosis(endpoint, status.machine, now: now).findings
        }
        return findings
    }

    private static func clone(_ status: StatusAnswer) -> [Finding] {
        guard status.machine.isClone else { return [] }
        return [
            Finding(
                .critical, "queue", "clone",
                "The queue came from another machine: its machine-id differs from this one's. What was under way there "
                    + "is held, lest both machines send it.",
                advice: "If this machine takes that one's place, run: kleos adopt. If that one goes on sending, run: "
                    + "kleos reset")
        ]
    }

    /// A clock behind this was never right: kleos was not there yet.
    private static let firstReleaseMilliseconds: Int64 = 1_767_225_600_000
    /// A clock may be corrected by so much without anybody's noticing.
    private static let toleranceMilliseconds: Int64 = 300_000

    private static func clock(_ status: StatusAnswer) -> [Finding] {
        guard let time = status.machine.timeMilliseconds else { return [] }
        let latest = max(status.machine.latestRecordedMilliseconds ?? 0, firstReleaseMilliseconds)
        guard time < latest - toleranceMilliseconds else { return [] }
        let behind = AgeText.span(latest - time)
        let proof =
            latest == firstReleaseMilliseconds
            ? "kleos is younger than that" : "the queue remembers \(Timestamp.text(milliseconds: latest))"
        return [
            Finding(
                .critical, "machine", "clock",
                "The clock of this machine is wrong: it says \(Timestamp.text(milliseconds: time)), and \(proof), so it "
                    + "is at least \(behind) behind. Certificates are not valid yet by it, and new events get its time.",
                advice: "Set it, as with: timedatectl set-ntp true. Deliveries go on by themselves.")
        ]
    }

    private static func storage(_ status: StatusAnswer) -> [Finding] {
        guard !status.isAccepting else { return [] }
        let path = Printable.text(status.path)
        if status.usedBytes >= status.limitBytes {
            return [
                Finding(
                    .critical, "queue", "queue-full",
                    "New events are refused (queue-full): the queue \(path) uses \(ByteText.text(status.usedBytes)) of "
                        + "the \(ByteText.text(status.limitBytes)) that MaximumSize= allows. Deliveries go on.",
                    advice: "Discard what is dead (kleos discard --state dead), or raise MaximumSize= in kleosd.conf.")
            ]
        }
        return [
            Finding(
                .critical, "queue", "disk-full",
                "New events are refused (queue-full): the disk of \(path) has \(ByteText.text(status.freeBytes)) free, "
                    + "less than the \(ByteText.text(status.floorBytes)) that KeepFree= keeps free. Deliveries go on.",
                advice: "Free disk space; new events are taken again by themselves.")
        ]
    }

    /// Users whose events take a good part of what one user may take.
    private static func users(_ status: StatusAnswer) -> [Finding] {
        guard let limit = status.userLimitBytes else { return [] }
        return status.users.filter { $0.usedBytes >= limit / 2 }.map { user in
            let isFull = user.usedBytes >= limit
            return Finding(
                isFull ? .warning : .note, "queue", "user-share",
                "The events of user \(user.uid) take \(ByteText.text(user.usedBytes)) of the "
                    + "\(ByteText.text(limit)) that one user may take\(isFull ? "; new ones are refused" : "").",
                advice: "See what that user submits (kleos list), or raise MaximumSharePerUser= in kleosd.conf.")
        }
    }

    private static func setAside(_ status: StatusAnswer) -> [Finding] {
        status.setAside.map { name in
            let isDamaged = name.contains(".damaged-")
            let name = Printable.text(name)
            return Finding(
                isDamaged ? .warning : .note, "queue", "set-aside",
                isDamaged
                    ? "A damaged queue was set aside as \(name)."
                    : "The queue that a backup replaced is kept as \(name).",
                advice:
                    "kleos salvage \(name) brings over what can be read; remove the file when nothing more of it is "
                    + "wanted.")
        }
    }
}
