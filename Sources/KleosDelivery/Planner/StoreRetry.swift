/// When what the store could not do is tried again. Pure.
enum StoreRetry {
    /// Milliseconds after the given number of failures in a row (1 or more): a second, doubled up to a minute.
    static func milliseconds(_ failures: Int) -> Int64 {
        min(60_000, 1_000 << Int64(min(max(0, failures - 1), 6)))
    }
}
