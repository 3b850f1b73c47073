import Glibc
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct FileTests {
    let folder: TemporaryFolder
    var path: String { folder.path("file") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func readsUpToTheLimitAndNothingLonger() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        try SmallFile.replace(path, with: bytes)
        #expect(try SmallFile.read(at: path, limitBytes: bytes.count) == bytes)
        #expect(throws: SystemError("read \(path)", code: EFBIG)) {
            _ = try SmallFile.read(at: path, limitBytes: bytes.count - 1)
        }
        try SmallFile.replace(path, with: [])
        #expect(try SmallFile.read(at: path, limitBytes: 0) == [])
    }

    @Test func readsTextWhateverItsBytes() throws {
        try SmallFile.replace(path, with: [0x61, 0xFF, 0x62])
        #expect(try SmallFile.readText(at: path) == "a\u{FFFD}b")
        #expect(throws: SystemError("open \(folder.path("none"))", code: ENOENT)) {
            _ = try SmallFile.readText(at: folder.path("none"))
        }
    }

    @Test func replacesAFileWholeWithItsMode() throws {
        try SmallFile.replace(path, with: Array("first, and longer".utf8))
        #expect(mode(path) == 0o600)
        try SmallFile.replace(path, with: Array("second".utf8), mode: 0o640)
        #expect(try SmallFile.readText(at: path) == "second")
        #expect(mode(path) == 0o640)
        #expect(try Folder.names(in: folder.path) == ["file"])
    }

    @Test func leavesTheOldFileWhereItCannotReplaceIt() throws {
        #expect(throws: SystemError.self) { try SmallFile.replace(folder.path("none/file"), with: []) }
        // A folder cannot be replaced by a file.
        try Folder.make(folder.path("taken"))
        try SmallFile.replace(folder.path("taken/inside"), with: [])
        #expect(throws: SystemError.self) { try SmallFile.replace(folder.path("taken"), with: [1]) }
        #expect(try Folder.names(in: folder.path) == ["taken"])
        // Nor is a link followed that stands where the new file is written.
        let elsewhere = folder.path("elsewhere")
        symlink(elsewhere, "\(path).\(getpid()).new")
        let error = #expect(throws: SystemError.self) { try SmallFile.replace(path, with: [1]) }
        #expect(error?.code == ELOOP)
        #expect(access(elsewhere, F_OK) != 0)
    }

    @Test(
        "A full disk is told with the file's name, and the old file stays",
        .enabled(if: SmallDisk.isAllowed, "mounting a small file system needs root"))
    func fullDisk() throws {
        let disk = try SmallDisk(kibibytes: 64)
        let path = "\(disk.path)/file"
        try SmallFile.replace(path, with: Array("old".utf8))
        try disk.fill()
        let error = #expect(throws: SystemError.self) {
            try SmallFile.replace(path, with: [UInt8](repeating: 1, count: 10_000))
        }
        #expect(error?.code == ENOSPC)
        #expect(error?.description == "cannot write \(path).\(getpid()).new: No space left on device")
        #expect(try SmallFile.readText(at: path) == "old")
        #expect(try Folder.names(in: disk.path).sorted() == ["ballast", "file"])
    }

    @Test func descriptorsCloseWithTheLastReference() throws {
        var descriptor: FileDescriptor? = try FileDescriptor.open("/dev/null", O_RDONLY)
        let number = try #require(descriptor?.number)
        // Another thread may take the number at once, but not this very file.
        var before = stat()
        try #require(fstat(number, &before) == 0)
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        let (reader, writer) = try UnixSocket.pair()
        descriptor = nil
        #expect(try reader.read(limitBytes: 0) == [])
        withExtendedLifetime(writer) {}
        do {
            let (one, other) = try UnixSocket.pair()
            descriptor = other
            withExtendedLifetime(one) {}
        }
        // Its peer is gone, which only the end of the last reference brings about.
        #expect(try descriptor?.read(limitBytes: 16) == [])
    }

    @Test func writesAllAndReadsUntilTheEnd() throws {
        let (reader, writer) = try UnixSocket.pair()
        try writer.writeAll(Array("abc".utf8))
        try writer.writeAll([])
        #expect(try reader.read(limitBytes: 2) == Array("ab".utf8))
        #expect(try reader.read(limitBytes: 2) == Array("c".utf8))
        try reader.setNonBlocking()
        let empty = #expect(throws: SystemError.self) { _ = try reader.read(limitBytes: 2) }
        #expect(empty?.code == EAGAIN)
        shutdown(writer.number, Int32(SHUT_WR))
        #expect(try reader.read(limitBytes: 2) == [])
        let full = try FileDescriptor.open("/dev/full", O_WRONLY)
        #expect(throws: SystemError("write descriptor \(full.number)", code: ENOSPC)) { try full.writeAll([1]) }
        #expect(throws: SystemError("write the answer", code: ENOSPC)) { try full.writeAll([1], path: "the answer") }
    }

    @Test func errorsSayWhatFailedAndWhy() {
        errno = EACCES
        let error = SystemError("open /etc/shadow")
        #expect(error.description == "cannot open /etc/shadow: Permission denied")
        #expect(error == SystemError("open /etc/shadow", code: EACCES))
        #expect(error != SystemError("open /etc/shadow", code: ENOENT))
    }

    @Test func repeatsACallOnlyWhileASignalInterruptsIt() {
        var calls = 0
        let result = Retry.onInterrupt { () -> Int32 in
            calls += 1
            errno = calls < 3 ? EINTR : EIO
            return -1
        }
        #expect(result == -1 && calls == 3)
        #expect(
            Retry.onInterrupt { () -> Int in
                errno = EINTR
                return 0
            } == 0)
    }
}
