/// A file in the spool, as a listing or the kernel named it.
struct SpoolEntry: Hashable, Sendable {
    /// Its name in its folder, with the zero byte at the end: any bytes that a file system allows.
    var name: [CChar]
    /// Its owner, who submits it.
    var uid: UInt32
    /// What it counts for in its owner's share.
    var bytes: Int
    /// Whether it is in the daemon's own folder already.
    var isTaken = false

    /// The name for people; what is no UTF-8 is replaced.
    var label: String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether it comes before `other`: what the daemon took goes first, then names in byte order, which for UUIDv7 is
    /// the order of time.
    func precedes(_ other: SpoolEntry) -> Bool {
        if isTaken != other.isTaken { return isTaken }
        return name.lexicographicallyPrecedes(other.name) { UInt8(bitPattern: $0) < UInt8(bitPattern: $1) }
    }
}
