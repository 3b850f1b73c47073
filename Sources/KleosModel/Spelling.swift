/// Finds what somebody may have meant.
package enum Spelling {
    /// The name of `names` that is at most a third of its letters away from `name`; nil where none is that near.
    package static func nearest(to name: String, in names: [String]) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let letters = Array(name.lowercased().utf8)
        // Names of quite another length are that far away; to compare them all would take long where there are many.
        let alike = names.filter { abs($0.utf8.count - name.utf8.count) <= reach($0) }
        let best = alike.sorted().map { ($0, distance(letters, Array($0.lowercased().utf8))) }.min { $0.1 < $1.1 }
        guard let best, best.1 <= reach(best.0) else { return nil }
        return best.0
    }

    /// How many letters away a name may be.
    private static func reach(_ name: String) -> Int { max(1, name.utf8.count / 3) }

    /// Levenshtein's distance, with two neighbours exchanged counting as one change.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var row = [index + 1]
            for column in right.indices {
                let substituted = last[column] + (byte == right[column] ? 0 : 1)
                var least = min(substituted, last[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == right[column] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                row.append(least)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
