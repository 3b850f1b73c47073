/// Sizes as people read them. Pure.
package enum ByteText {
    /// `512 B`, `12.5 MiB`.
    package static func text(_ bytes: Int64) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var unit = 0
        var scale: Int64 = 1
        while bytes / scale >= 1_024, unit < units.count - 1 {
            scale *= 1_024
            unit += 1
        }
        let tenths = unit == 0 ? 0 : bytes % scale * 10 / scale
        return "\(bytes / scale)\(tenths > 0 ? ".\(tenths)" : "") \(units[unit])"
    }
}
