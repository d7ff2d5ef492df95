import Foundation
import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import Testing

/// Unusual limits, times and folders.
@Suite(.timeLimit(.minutes(5)))
struct DiskOddInputTests {
    private let key = DiskFixture.key

    @Test(arguments: [Int.min, -1, 0, Int.max])
    func anyNumberIsATarget(bytes: Int) async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(DiskFixture.data, for: key)
        #expect(await fixture.cache.trim(to: bytes).entries == (bytes > 0 ? 0 : 1))
    }

    @Test(arguments: [Int.min, -1, 0, Int.max])
    func anyNumberIsALimit(bytes: Int) async throws {
        let fixture = DiskFixture(sizeLimit: bytes, stagingLimit: bytes)
        try? await fixture.cache.store(DiskFixture.data, for: key)
        await fixture.cache.stage(DiskFixture.data, for: DiskFixture.key(1))
        await fixture.cache.flush()
        await fixture.cache.sweep()
        #expect(await fixture.cache.count() == (bytes > 0 ? 2 : 0))
    }

    @Test(
        arguments: [
            .seconds(.nan), .seconds(.infinity), .seconds(-.infinity), .seconds(.greatestFiniteMagnitude),
            .seconds(.leastNonzeroMagnitude), .days(.max), .days(.min), .date(.distantFuture), .date(.distantPast),
            .never, .expired,
        ] as [StorageExpiration])
    func anyTimeIsAnExpiration(expiration: StorageExpiration) async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(DiskFixture.data, for: key, expiration: expiration)
        let found = await fixture.cache.entry(for: key, extending: .expirationTime(.seconds(Int64.max)))
        #expect(found != nil || !(expiration == .never || expiration == .days(.max)))
        fixture.clock.advance(by: .seconds(Int64.max))
        _ = await fixture.cache.entry(for: key, extending: .expirationTime(.seconds(Int64.min)))
        fixture.clock.now = .distantPast
        _ = await fixture.cache.entry(for: key)
        await fixture.cache.sweep()
    }

    /// A file's times may be anything that its file system keeps.
    @Test func anEntryWhoseLastAccessIsBeforeAllTimeIsReadAsEver() async throws {
        let fixture = DiskFixture()
        let cache = DiskCache(
            folder: fixture.folder, fileSystem: OldAccessFileSystem(), timeSource: fixture.clock.timeSource)
        try await cache.store(DiskFixture.data, for: key)
        #expect(await cache.entry(for: key)?.data == DiskFixture.data)
        await cache.trim(to: 0)
        #expect(await cache.count() == 0)
    }

    @Test func itsOwnFolderIsNoReadOnlyOne() async throws {
        let fixture = DiskFixture()
        for folder in [fixture.folder, fixture.folder.appending(path: "../\(fixture.folder.lastPathComponent)/")] {
            let configuration = DiskCache.Configuration(readOnlyFolders: [folder], sweepInterval: nil)
            let cache = DiskCache(
                folder: fixture.folder, configuration: configuration, timeSource: fixture.clock.timeSource)
            try await cache.store(DiskFixture.data, for: key, expiration: .seconds(10))
            fixture.clock.advance(by: .seconds(11))
            #expect(await cache.entry(for: key) == nil)
            #expect(await cache.contains(key) == false)
        }
    }

    /// The system's timer counts no more than centuries.
    @Test func anyIntervalIsOneBetweenSweeps() async throws {
        let waits = Lock<[Duration]>([])
        let gate = ScriptedTransportGate()
        let source = TimeSource(
            { Date() },
            wait: { duration in
                let count = waits.withLock { waits in
                    waits.append(duration)
                    return waits.count
                }
                guard count > 1 else { return }
                gate.open()
                try await ScriptedTransportGate().wait()
            })
        let fixture = DiskFixture()
        let configuration = DiskCache.Configuration(sweepInterval: .seconds(Int64.max))
        let cache = DiskCache(folder: fixture.folder, configuration: configuration, timeSource: source)
        try await cache.store(DiskFixture.data, for: key)
        try await gate.wait()
        let longest = try #require(waits.withLock { $0.max() })
        #expect(longest <= .seconds(365 * 86_400))
        #expect(longest >= .seconds(86_400))
    }

    @Test func aFolderThatIsAFileIsAnErrorOrAMiss() async throws {
        let fixture = DiskFixture()
        try Data("a file".utf8).write(to: fixture.folder)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(DiskFixture.data, for: key) }
        await fixture.cache.stage(DiskFixture.data, for: key)
        await fixture.cache.flush()
        #expect(await fixture.cache.entry(for: key) == nil)
        await fixture.cache.removeAll()
        #expect(await fixture.cache.size() == 0)
        #expect(try Data(contentsOf: fixture.folder) == Data("a file".utf8))
    }

    @Test func aFolderMayBeALink() async throws {
        let fixture = DiskFixture()
        let target = FileManager.default.temporaryDirectory.appending(path: "halcyon-target-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: target) }
        try FileManager.default.createSymbolicLink(at: fixture.folder, withDestinationURL: target)
        try await fixture.cache.store(DiskFixture.data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == DiskFixture.data)
        await fixture.cache.removeAll()
        #expect(await fixture.cache.count() == 0)
    }
}

/// Says of every file that it was last read before all time.
private struct OldAccessFileSystem: FileSystem {
    let base = PosixFileSystem()

    private func old(_ status: FileStatus) -> FileStatus {
        var status = status
        status.accessed = FileTime(seconds: .min)
        return status
    }

    func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32 {
        try base.open(path, for: access)
    }
    func status(of file: Int32) throws(SystemCallError) -> FileStatus { old(try base.status(of: file)) }
    func status(at path: String) throws(SystemCallError) -> FileStatus { old(try base.status(at: path)) }
    func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemCallError) -> Int { try base.read(file, into: buffer, at: offset) }
    func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer {
        try base.map(file, size: size)
    }
    func unmap(_ bytes: UnsafeRawBufferPointer) { base.unmap(bytes) }
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try base.write(file, bytes)
    }
    func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError) {
        try base.setTimes(of: file, accessed: accessed, modified: modified)
    }
    func synchronize(_ file: Int32) throws(SystemCallError) { try base.synchronize(file) }
    func synchronizeFolder(_ path: String) throws(SystemCallError) { try base.synchronizeFolder(path) }
    func close(_ file: Int32) throws(SystemCallError) { try base.close(file) }
    func rename(_ path: String, to newPath: String) throws(SystemCallError) { try base.rename(path, to: newPath) }
    func unlink(_ path: String) throws(SystemCallError) { try base.unlink(path) }
    func makeDirectory(_ path: String) throws(SystemCallError) { try base.makeDirectory(path) }
    func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError) {
        try base.list(path) { visit($0, old($1)) }
    }
    func freeSpace(at path: String) throws(SystemCallError) -> Int { try base.freeSpace(at: path) }

    @Test func aURLWithoutAPathNamesNoFolder() async throws {
        let url = try #require(URL(string: "https://example.com"))
        let cache = DiskCache(folder: url)
        await #expect(throws: DiskCacheError.self) { try await cache.store(Data(count: 3), for: DiskFixture.key) }
        #expect(await cache.entry(for: DiskFixture.key) == nil)
    }

    /// A 304 is about the entry that was requested, and not about the one that has taken its place.
    @Test func metadataOfAnotherEntryIsNotReplaced() async throws {
        let fixture = DiskFixture()
        let (cache, key) = (fixture.cache, DiskFixture.key)
        let (first, second, third) = (Data("1".utf8), Data("2".utf8), Data("3".utf8))
        try await cache.store(Data(count: 3), metadata: first, for: key)
        #expect(try await cache.updateMetadata(second, for: key, replacing: first))
        #expect(try await cache.updateMetadata(third, for: key, replacing: first) == false)
        #expect(await cache.entry(for: key)?.metadata == second)
        // The same while it is staged.
        fixture.files.hold(.rename)
        await cache.stage(Data(count: 4), metadata: third, for: key)
        #expect(try await cache.updateMetadata(first, for: key, replacing: second) == false)
        #expect(try await cache.updateMetadata(first, for: key, replacing: third))
        #expect(await cache.entry(for: key)?.metadata == first)
        fixture.files.release(.rename)
        await cache.flush()
        #expect(await cache.entry(for: key)?.metadata == first)
    }
}
