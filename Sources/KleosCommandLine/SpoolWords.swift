import KleosModel
import KleosWire

/// How the spool is, in words. Pure.
enum SpoolWords {
    /// Lines of `kleos status`; none where nothing waits and nothing was rejected.
    static func lines(_ spool: SpoolStatus, now: Int64, palette: Palette) -> [String] {
        var lines: [String] = []
        if let trouble = spool.trouble {
            lines.append(palette.apply(.warning, to: "The spool is not in use: \(Printable.text(trouble))"))
        }
        guard spool.waiting > 0 || spool.rejected > 0 else { return lines }
        var parts: [String] = []
        if spool.waiting > 0 {
            let reason = spool.waitingReason.map { ", because \(Printable.text($0))" } ?? ""
            parts.append("\(Counted.text(spool.waiting, "file waits", "files wait"))\(reason)")
        }
        if spool.rejected > 0 {
            parts.append("\(Counted.text(spool.rejected, "file was", "files were")) rejected")
        }
        lines.append("Spool: \(Printable.text(spool.path)), \(parts.joined(separator: ", "))")
        for rejection in spool.rejections {
            let age = AgeText.ago(milliseconds: now - rejection.atMilliseconds)
            let text =
                "  \(rejection.file) of user \(rejection.uid), \(age): \(rejection.message) (\(rejection.reason))"
            lines.append(palette.apply(.bad, to: Printable.text(text)))
        }
        if spool.rejected > spool.rejections.count {
            lines.append(
                "  and \(spool.rejected - spool.rejections.count) more in \(Printable.text(spool.path))/rejected")
        } else if spool.rejected > 0 {
            lines.append("  kept in \(Printable.text(spool.path))/rejected, with the error beside the file")
        }
        return lines
    }
}
