import CLinux

/// How the C library's allocator goes about (mallopt(3)).
package enum Heap {
    /// Lets all threads share two arenas; called before there are threads.
    ///
    /// Dispatch runs a queue on one thread and on another the next moment: with an arena for each, every one grows to
    /// what the queue needs at its busiest, and keeps that.
    package static func shareArenas() {
        kleos_limit_arenas(2)
    }
}
