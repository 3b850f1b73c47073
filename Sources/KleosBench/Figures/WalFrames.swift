import Glibc
package import KleosSupport

/// What a write-ahead log of SQLite holds, by its file format alone (sqlite.org/fileformat2.html, section 4): frames
/// follow a header, and those of the present generation carry the header's salts.
package struct WalFrames: Sendable, Equatable {
    /// Changes each time the log starts anew; nil for a log that holds nothing.
    package let salts: [UInt8]?
    /// Frames up to the last commit, each one page.
    package let frames: Int
    /// Commits.
    package let commits: Int
    /// Bytes of a page; 0 for a log that holds nothing.
    package let pageBytes: Int

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24
    private static let empty = WalFrames(salts: nil, frames: 0, commits: 0, pageBytes: 0)

    init(salts: [UInt8]?, frames: Int, commits: Int, pageBytes: Int) {
        self.salts = salts
        self.frames = frames
        self.commits = commits
        self.pageBytes = pageBytes
    }

    /// Counts what `path` holds; a log that is absent, or shorter than its header, holds nothing. Frames that a
    /// transaction left behind when it was rolled back follow the last commit and are not counted. Throws
    /// `SystemError`.
    package init(path: String) throws(SystemError) {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try FileDescriptor.open(path, O_RDONLY)
        } catch {
            guard error.code == ENOENT else { throw error }
            self = Self.empty
            return
        }
        let header = try Self.bytes(Self.headerBytes, at: 0, of: file, path)
        guard header.count == Self.headerBytes, let pageBytes = Self.pageBytes(header) else {
            self = Self.empty
            return
        }
        let salts = Array(header[16..<24])
        var seen = 0
        var frames = 0
        var commits = 0
        while true {
            let offset = Self.headerBytes + seen * (Self.frameHeaderBytes + pageBytes)
            let frame = try Self.bytes(Self.frameHeaderBytes, at: offset, of: file, path)
            guard frame.count == Self.frameHeaderBytes, frame[8..<16].elementsEqual(salts) else { break }
            seen += 1
            // The size of the database after the commit, which frames inside a transaction leave at zero.
            if Self.number(frame, at: 4) != 0 {
                frames = seen
                commits += 1
            }
        }
        self.init(salts: salts, frames: frames, commits: commits, pageBytes: pageBytes)
    }

    /// Frames that were added since `earlier`; nil where the log started anew in between, which hides what came before.
    package func added(since earlier: WalFrames) -> Int? {
        guard let old = earlier.salts else { return frames }
        guard old == salts, frames >= earlier.frames else { return nil }
        return frames - earlier.frames
    }

    private static func pageBytes(_ header: [UInt8]) -> Int? {
        guard number(header, at: 0) & 0xFFFF_FFFE == 0x377F_0682 else { return nil }
        let size = number(header, at: 8)
        return (512...65_536).contains(size) && size & (size - 1) == 0 ? size : nil
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func bytes(
        _ count: Int, at offset: Int, of file: FileDescriptor, _ path: String
    ) throws(SystemError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            // Sound: pread writes no more than the buffer's count, and `used` says how much it wrote.
            let result = Retry.onInterrupt { pread(file.number, buffer.baseAddress, count, off_t(offset)) }
            if result < 0 { failure = errno }
            used = max(0, result)
        }
        guard failure == 0 else { throw SystemError("read \(path)", code: failure) }
        return bytes
    }
}
