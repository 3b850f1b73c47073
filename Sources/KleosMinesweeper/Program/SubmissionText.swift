import KleosModel

/// Submissions as people read of them. Pure.
enum SubmissionText {
    /// `3 of 4 submissions are safe with kleos`.
    static func safe(_ count: Int, of total: Int) -> String {
        "\(count) of \(Counted.text(total, "submission is", "submissions are")) safe with kleos"
    }
}
