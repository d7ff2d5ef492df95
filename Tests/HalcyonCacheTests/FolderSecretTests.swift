import Foundation
import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The key that all processes that use a folder have in common.
@Suite struct FolderSecretTests {
    private let folder = TemporaryFolder()

    private func secret(_ files: any FileSystem = PosixFileSystem()) throws -> FolderSecret {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return FolderSecret(folder: folder.url.path(percentEncoded: false), files: files, ownership: nil)
    }

    @Test func firstSecretWrittenIsUsedByAll() async throws {
        let files = FaultInjectingFileSystem()
        let (slow, fast) = (try secret(files), try secret())
        files.hold(.rename)
        async let late = ThreadPools.io.run { _ in try slow.made() }
        try await files.waitForHeld(.rename)
        let key = try fast.made()
        files.release(.rename)
        #expect(try await late == key)
        #expect(try secret().value() == key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    /// A file system that has no links, and one that fails.
    @Test(arguments: [ENOTSUP, EPERM, EIO])
    func secretIsMadeWithoutLinks(_ code: Int32) throws {
        let files = FaultInjectingFileSystem()
        let made = try secret(files)
        files.fail(.rename, with: code)
        let key = try made.made()
        #expect(try secret().value() == key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    @Test func unreadableSecretIsKept() throws {
        let key = try secret().made()
        let files = FaultInjectingFileSystem()
        let other = try secret(files)
        files.fail(.read, with: EIO)
        #expect(other.value() == nil)
        files.failAlways(.read, with: EIO)
        #expect(throws: SystemCallError.self) { try other.made() }
        files.failNothing()
        #expect(try other.made() == key)
        #expect(try secret().value() == key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    @Test(arguments: [0, 3, 31, 33]) func malformedSecretIsReplaced(_ length: Int) throws {
        _ = try secret().made()
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.url.path).first)
        try Data(repeating: 1, count: length).write(to: folder.url.appending(path: name))
        #expect(try secret().value() == nil)
        let key = try secret().made()
        #expect(try secret().value() == key)
    }

    @Test func writesOfNothingEnd() throws {
        let files = FaultInjectingFileSystem()
        let made = try secret(files)
        files.shorten(writes: 0)
        #expect(throws: SystemCallError.self) { try made.made() }
        files.shorten()
        let key = try made.made()
        #expect(try secret().value() == key)
    }
}
