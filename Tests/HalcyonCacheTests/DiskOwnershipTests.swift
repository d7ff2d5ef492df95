import Foundation
import TestSupport
import Testing

@testable import HalcyonCache

/// Folders that belong to other users: the cache neither reads nor writes there.
@Suite struct DiskOwnershipTests {
    private let key = CacheKey("a")
    private let data = Data("bytes".utf8)

    /// A folder with an entry in it and with acceptable permissions.
    private func filled() async throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        let cache = DiskCache(folder: folder.url)
        try await cache.store(data, for: key)
        #expect(await cache.entry(for: key)?.data == data)
        return folder
    }

    private func expectRefused(_ folder: URL, _ files: any FileSystem = PosixFileSystem()) async {
        let cache = DiskCache(folder: folder, fileSystem: files)
        #expect(await cache.entry(for: key) == nil)
        #expect(await !cache.contains(key))
        #expect(await cache.count() == 0)
        await #expect {
            try await cache.store(data, for: CacheKey("b"))
        } throws: {
            if case .foreignFolder = $0 as? DiskCacheError { true } else { false }
        }
        var trusting = DiskCache.Configuration()
        trusting.allowsForeignFolder = true
        let other = DiskCache(folder: folder, configuration: trusting, fileSystem: files)
        #expect(await other.entry(for: key)?.data == data)
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o720, 0o1777])
    func aFolderThatOthersMayWriteIn(mode: Int) async throws {
        let folder = try await filled()
        #expect(chmod(folder.url.path, mode_t(mode)) == 0)
        await expectRefused(folder.url)
        // With its former permissions it is used again.
        #expect(chmod(folder.url.path, 0o755) == 0)
        #expect(await DiskCache(folder: folder.url).entry(for: key)?.data == data)
    }

    /// With a umask of 002 the system's own calls make folders that the group may write in; the group has no other member.
    @Test(arguments: [(0o775, 1000, true), (0o775, 100, false), (0o777, 1000, false), (0o2770, 1000, true)])
    func aFolderForItsUsersOwnGroup(mode: Int, group: Int, isUsed: Bool) async throws {
        let folder = try await filled()
        #expect(chmod(folder.url.path, mode_t(mode)) == 0)
        let files = ForeignFiles(changing: { path, status in
            (status.owner, status.group) = path == folder.url.path ? (1000, UInt32(group)) : (0, 0)
        })
        let ownership = FolderOwnership(files, user: 1000)
        #expect(((try? ownership.check(folder.url.path)) != nil) == isUsed)
    }

    /// In a user namespace `/` and `/home` belong to a user that is unknown there.
    @Test func foldersAboveOfOutsideAUserNamespace() async throws {
        let folder = try await filled()
        let above = folder.url.deletingLastPathComponent().path
        func mayUse(_ outsider: UInt32?, _ isOutside: @escaping @Sendable (String) -> Bool) -> Bool {
            let files = ForeignFiles(changing: { path, status in if isOutside(path) { status.owner = 65_534 } })
            return (try? FolderOwnership(files, outsider: outsider).check(folder.url.path)) != nil
        }
        #expect(mayUse(65_534) { $0 == above })
        #expect(!mayUse(nil) { $0 == above })
        #expect(!mayUse(65_534) { $0 == folder.url.path })
    }

    @Test func folderOwnedByAnotherUserIsRefused() async throws {
        let folder = try await filled()
        await expectRefused(folder.url, ForeignFiles { $0 == folder.url.path })
    }

    @Test func parentFolderOwnedByAnotherUserIsRefused() async throws {
        let folder = try await filled()
        let above = folder.url.deletingLastPathComponent().path
        await expectRefused(folder.url, ForeignFiles { $0 == above })
    }

    /// An entry that belongs to another user, such as one that others have linked to a file of their own.
    @Test func entryOwnedByAnotherUserIsMiss() async throws {
        let folder = try await filled()
        let path = DiskCache(folder: folder.url).path(for: key).path
        let cache = DiskCache(folder: folder.url, fileSystem: ForeignFiles { $0 == path })
        #expect(await cache.entry(for: key) == nil)
        #expect(await !cache.contains(key))
        // The foreign file does not prevent a write.
        try await cache.store(data, for: key)
    }

    @Test func worldWritableParentFolderIsRefused() async throws {
        let above = TemporaryFolder()
        let folder = above.url.appending(path: "cache")
        try await DiskCache(folder: folder).store(data, for: key)
        #expect(chmod(above.url.path, 0o777) == 0)
        await expectRefused(folder)
        // Permissions as in /tmp: only the owner of a name can remove it.
        #expect(chmod(above.url.path, 0o1777) == 0)
        #expect(await DiskCache(folder: folder).entry(for: key)?.data == data)
    }

    @Test func linkedFolderIsCheckedLikeAnyOther() async throws {
        let (folder, links) = (try await filled(), TemporaryFolder())
        try FileManager.default.createDirectory(at: links.url, withIntermediateDirectories: true)
        let link = links.url.appending(path: "cache")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        #expect(await DiskCache(folder: link).entry(for: key)?.data == data)
        await expectRefused(link, ForeignFiles { $0 == link.path })
        #expect(chmod(folder.url.path, 0o777) == 0)
        await expectRefused(link)
        let ring = links.url.appending(path: "ring")
        try FileManager.default.createSymbolicLink(at: ring, withDestinationURL: ring)
        #expect(await DiskCache(folder: ring).entry(for: key) == nil)
    }

    /// A pipe would block the reader, a link could lead anywhere.
    @Test(arguments: ["pipe", "link", "folder", "socket"])
    func nonRegularFileIsNoEntry(kind: String) async throws {
        let (folder, elsewhere) = (try await filled(), try await filled())
        let cache = DiskCache(folder: folder.url)
        let path = cache.path(for: key).path
        #expect(unlink(path) == 0)
        switch kind {
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "link": #expect(symlink(DiskCache(folder: elsewhere.url).path(for: key).path, path) == 0)
        case "folder": #expect(mkdir(path, 0o700) == 0)
        default: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        }
        #expect(await cache.entry(for: key) == nil)
        #expect(await !cache.contains(key))
        let isStored = (try? await cache.store(data, for: key)) != nil
        #expect(isStored == (kind != "folder"))
        #expect(await (cache.entry(for: key) != nil) == isStored)
    }

    /// Nothing is trimmed, counted or removed behind a link.
    @Test func aLinkAmongTheFoldersLeadsNowhere() async throws {
        let (folder, elsewhere) = (try await filled(), try await filled())
        let fanOut = folder.url.appending(path: key.folderName)
        try FileManager.default.removeItem(at: fanOut)
        try FileManager.default.createSymbolicLink(
            at: fanOut, withDestinationURL: elsewhere.url.appending(path: key.folderName))
        let cache = DiskCache(folder: folder.url)
        #expect(await cache.count() == 0)
        await cache.removeAll()
        #expect(await DiskCache(folder: elsewhere.url).entry(for: key)?.data == data)
    }

    @Test func foreignFolderDisablesMappedReads() async throws {
        let folder = try await filled()
        var configuration = DiskCache.Configuration(mappedReads: 1)
        configuration.allowsForeignFolder = true
        let store = EntryStore(
            folder: CacheFolder(folder.url), files: PosixFileSystem(), configuration: configuration)
        #expect(store.mappedReads == nil)
    }
}

/// The system's files, some of which belong to another user.
private struct ForeignFiles: FileSystem {
    private let base = PosixFileSystem()
    private let change: @Sendable (String, inout FileStatus) -> Void

    init(changing change: @escaping @Sendable (String, inout FileStatus) -> Void) {
        self.change = change
    }

    init(_ isForeign: @escaping @Sendable (String) -> Bool) {
        self.init(changing: { path, status in if isForeign(path) { status.owner = 4_000_000_000 } })
    }

    private func seen(_ status: FileStatus, _ path: String) -> FileStatus {
        var status = status
        change(path, &status)
        return status
    }

    func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32 {
        try base.open(path, for: access)
    }
    func status(of file: Int32) throws(SystemCallError) -> FileStatus {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")) ?? ""
        return seen(try base.status(of: file), path)
    }
    func status(at path: String) throws(SystemCallError) -> FileStatus { seen(try base.status(at: path), path) }
    func linkTarget(at path: String) throws(SystemCallError) -> String { try base.linkTarget(at: path) }
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemCallError) -> Int
    {
        try base.read(file, into: buffer, at: offset)
    }
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try base.write(file, bytes)
    }
    func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError) {
        try base.setTimes(of: file, accessed: accessed, modified: modified)
    }
    func close(_ file: Int32) throws(SystemCallError) { try base.close(file) }
    func rename(_ path: String, to newPath: String) throws(SystemCallError) { try base.rename(path, to: newPath) }
    func unlink(_ path: String) throws(SystemCallError) { try base.unlink(path) }
    func makeDirectory(_ path: String) throws(SystemCallError) { try base.makeDirectory(path) }
    func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError) {
        try base.list(path) { visit($0, $1) }
    }
    func freeSpace(at path: String) throws(SystemCallError) -> Int { try base.freeSpace(at: path) }
}
