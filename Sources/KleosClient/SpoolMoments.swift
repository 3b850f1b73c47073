/// The times of a process's files in the spool, which tell their order where the latest counts. Pure.
package struct SpoolMoments: Sendable {
    /// A clock that is set back by more than this is right from then on; by less, it only wavers.
    private static let waverMilliseconds: Int64 = 1_000
    private var last: Int64 = 0
    private var lastReading: Int64 = 0

    /// Makes the times of a process that has written no file.
    package init() {}

    /// The time of an event that happened at `reading` of the wall clock, Unix milliseconds: that, or as little later
    /// as makes it later than the file before.
    package mutating func next(_ reading: Int64) -> Int64 {
        let isSetBack = reading < lastReading - Self.waverMilliseconds
        last = isSetBack ? reading : max(reading, last + 1)
        lastReading = reading
        return last
    }
}
