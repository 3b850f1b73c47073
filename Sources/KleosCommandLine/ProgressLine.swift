/// A line on the terminal that says how far long work has come; elsewhere nothing.
struct ProgressLine {
    private let what: String
    private let terminal: Terminal
    private var shown: Int64?

    init(_ what: String, _ terminal: Terminal) {
        self.what = what
        self.terminal = terminal
    }

    /// Shows `done` of `total`; written only where the percentage changed.
    mutating func show(_ done: Int64, of total: Int64) {
        let percent = total > 0 ? min(100, done * 100 / total) : 0
        guard terminal.isOutputTerminal, percent != shown else { return }
        shown = percent
        let filled = Int(percent) / 5
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
        terminal.writeError("\r\(what) [\(bar)] \(percent) %")
    }

    /// Takes the line away.
    mutating func clear() {
        guard shown != nil else { return }
        terminal.writeError("\r\u{1B}[K")
        shown = nil
    }
}
