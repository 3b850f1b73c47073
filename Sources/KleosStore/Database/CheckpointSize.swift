/// How many pages of log make a checkpoint: as many as take a few milliseconds on this disk.
struct CheckpointSize {
    /// Smaller ones would sync more than they move.
    static let minimumPages = 256
    /// 64 MiB of log.
    static let maximumPages = 16_384

    /// The size now, in pages.
    private(set) var pages = 1_000

    /// Learns from a checkpoint that moved `moved` pages in `milliseconds`.
    mutating func learn(moved: Int, milliseconds: Double) {
        if milliseconds > 10 {
            pages = max(Self.minimumPages, pages / 2)
        } else if milliseconds < 5, moved * 2 >= pages {
            pages = min(Self.maximumPages, pages + pages / 2)
        }
    }
}
