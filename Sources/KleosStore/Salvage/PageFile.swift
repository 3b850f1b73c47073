import Glibc
import KleosSupport

/// The pages of a database that may be damaged, with those of its log on top; nothing is ever written.
///
/// SQLite itself refuses a file whose first page is damaged, and would bring a log into the database that it opens.
final class PageFile {
    private static let pageBytes = Int(Database.pageBytes)
    private let database: FileDescriptor?
    private let log: FileDescriptor?
    /// Where the newest committed version of a page is in the log.
    private var offsets: [UInt32: off_t] = [:]
    /// How many pages there are; page numbers begin at 1.
    private(set) var count: UInt32 = 0
    /// Whether the log ends in something that was never committed, or cannot be read.
    private(set) var hasTornLog = false

    /// Opens the database at `path` and its log, whichever there are. Throws `SystemError` where there is neither.
    init(path: String) throws(SystemError) {
        database = SetAside.exists(path) ? try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW) : nil
        let logPath = "\(path)-wal"
        log = SetAside.exists(logPath) ? try FileDescriptor.open(logPath, O_RDONLY | O_NOFOLLOW) : nil
        guard database != nil || log != nil else { throw SystemError("open \(path)", code: ENOENT) }
        if let database { count = UInt32(clamping: (Self.size(database) + Self.pageBytes - 1) / Self.pageBytes) }
        if let log { readLog(log) }
    }

    private static func size(_ file: FileDescriptor) -> Int {
        var information = stat()
        return fstat(file.number, &information) == 0 ? Int(information.st_size) : 0
    }

    /// The page `number`; nil where it is not there or cannot be read.
    func page(_ number: UInt32) -> [UInt8]? {
        guard number >= 1, number <= count else { return nil }
        if let log, let offset = offsets[number] { return Self.read(log, at: offset, count: Self.pageBytes) }
        guard let database else { return nil }
        return Self.read(database, at: off_t(number - 1) * off_t(Self.pageBytes), count: Self.pageBytes)
    }

    private static func read(_ file: FileDescriptor, at offset: off_t, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { buffer in
            Retry.onInterrupt { pread(file.number, buffer.baseAddress, count, offset) }
        }
        return read == count ? bytes : nil
    }

    /// Reads the log as SQLite's recovery does: frames whose salts and running checksum fit, up to the last COMMIT.
    private func readLog(_ log: FileDescriptor) {
        let size = Self.size(log)
        guard size >= 32 else { return }
        guard let header = Self.read(log, at: 0, count: 32), let kind = LogChecksum(header: header) else {
            hasTornLog = true
            return
        }
        var checksum = kind
        var open: [UInt32: off_t] = [:]
        var offset = 32
        while offset + 24 + Self.pageBytes <= size {
            guard let frame = Self.read(log, at: off_t(offset), count: 24 + Self.pageBytes),
                checksum.accepts(frame)
            else { break }
            open[frame.number(0)] = off_t(offset + 24)
            if frame.number(4) != 0 {
                offsets.merge(open) { _, new in new }
                open = [:]
            }
            offset += 24 + Self.pageBytes
        }
        hasTornLog = !open.isEmpty
        count = max(count, offsets.keys.max() ?? 0)
    }
}

/// The running checksum of a log.
private struct LogChecksum {
    private let isBigEndian: Bool
    private let salts: ArraySlice<UInt8>
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    /// Reads a log's header; nil where it is none.
    init?(header: [UInt8]) {
        guard header.number(0) & ~1 == 0x377F_0682, header.number(8) == UInt32(Database.pageBytes) else { return nil }
        isBigEndian = header.number(0) & 1 == 1
        salts = header[16..<24]
        add(header[0..<24])
        guard first == header.number(24), second == header.number(28) else { return nil }
    }

    /// Whether `frame` is the next one.
    mutating func accepts(_ frame: [UInt8]) -> Bool {
        guard frame.number(0) != 0, frame[8..<16].elementsEqual(salts) else { return false }
        add(frame[0..<8])
        add(frame[24...])
        return first == frame.number(16) && second == frame.number(20)
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset + 8 <= buffer.count {
                let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first = first &+ (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
                second = second &+ (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
                offset += 8
            }
        }
    }
}

extension [UInt8] {
    /// The four bytes at `offset`, most significant first.
    func number(_ offset: Int) -> UInt32 {
        self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
