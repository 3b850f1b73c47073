import Glibc
import KleosSupport
import KleosTestSupport
import Testing

@Suite struct FolderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func listsNamesInByteOrder() throws {
        for name in ["b", "a", ".hidden", "B", "é", "a b"] { try SmallFile.replace(folder.path(name), with: []) }
        #expect(try Folder.names(in: folder.path) == [".hidden", "B", "a", "a b", "b", "é"])
        #expect(throws: SystemError("list \(folder.path("none"))", code: ENOENT)) {
            _ = try Folder.names(in: folder.path("none"))
        }
    }

    @Test func makesWhatIsMissingAboveToo() throws {
        try Folder.make(folder.path("a/b/c"), mode: 0o750)
        for path in ["a", "a/b", "a/b/c"] { #expect(mode(folder.path(path)) == 0o750) }
        try Folder.make(folder.path("a/b/c"))
        #expect(mode(folder.path("a/b/c")) == 0o750, "a folder that is there stays as it is")
        symlink(folder.path("a"), folder.path("link"))
        try Folder.make(folder.path("link"))
        try Folder.make(folder.path("link/d"))
        #expect(Folder.exists(folder.path("a/d")))
    }

    @Test func makesNoFolderWhereSomethingElseIs() throws {
        try SmallFile.replace(folder.path("file"), with: [])
        symlink(folder.path("nowhere"), folder.path("dangling"))
        for name in ["file", "dangling"] {
            #expect(throws: SystemError("make folder \(folder.path(name))", code: EEXIST)) {
                try Folder.make(folder.path(name))
            }
        }
        let error = #expect(throws: SystemError.self) { try Folder.make(folder.path("file/below")) }
        #expect(error?.code == ENOTDIR)
        #expect(!Folder.exists(folder.path("file")) && !Folder.exists(folder.path("dangling")))
    }

    @Test func tellsWhoElseCouldChangeAFolder() throws {
        try #require(chmod(folder.path, 0o775) == 0)
        #expect(try Folder.weakness(of: folder.path, uid: getuid()) == nil)
        try #require(chmod(folder.path, 0o757) == 0)
        #expect(try Folder.weakness(of: folder.path, uid: getuid()) == "everybody may write there")
        #expect(try Folder.weakness(of: "/", uid: 4_711) == nil, "what root has is no weakness")
        #expect(throws: SystemError.self) { _ = try Folder.weakness(of: folder.path("none"), uid: getuid()) }
    }

    @Test(.enabled(if: getuid() == 0, "needs root, to give a folder away"))
    func namesTheOwnerThatItShouldNotHave() throws {
        try #require(chown(folder.path, 61_001, 61_001) == 0)
        #expect(try Folder.weakness(of: folder.path, uid: 4_711) == "it belongs to user 61001")
        #expect(try Folder.weakness(of: folder.path, uid: 61_001) == nil)
    }

    @Test func knowsWhereThisProgramIs() throws {
        let own = try #require(Folder.ofThisProgram)
        #expect(own.hasPrefix("/") && Folder.exists(own))
    }
}
