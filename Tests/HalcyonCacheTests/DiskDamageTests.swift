import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskDamageTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    /// The bytes of a small entry's file.
    func original(_ fixture: DiskFixture, extended: Data = Data([7, 8])) throws -> Data {
        try fixture.cache.storeSynchronously(data, metadata: Data([1, 2, 3]), extended: extended, for: key)
        return try Data(contentsOf: fixture.file(key))
    }

    @Test func everyFlippedByteIsAMiss() throws {
        let fixture = DiskFixture()
        let original = try original(fixture)
        for index in original.indices {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = original
                damaged[index] ^= mask
                try fixture.write(damaged, as: key)
                #expect(fixture.cache.entrySynchronously(for: key) == nil, "byte \(index)")
                #expect(!fixture.exists(key), "byte \(index)")
            }
        }
        #expect(fixture.cache.statistics.damaged == original.count * 3)
        try fixture.write(original, as: key)
        #expect(fixture.cache.entrySynchronously(for: key)?.data == data)
    }

    /// `contains` asks for size and time and reads nothing: damage is the business of a read, which may come next anyway.
    @Test func containsIsTrueUntilAReadHasSeenTheDamage() throws {
        let fixture = DiskFixture()
        var damaged = try original(fixture)
        damaged[0] ^= 0x10
        try fixture.write(damaged, as: key)
        let reads = fixture.files.calls(of: .read) + fixture.files.calls(of: .open)
        #expect(fixture.cache.containsSynchronously(key))
        #expect(fixture.files.calls(of: .read) + fixture.files.calls(of: .open) == reads)
        #expect(fixture.cache.entrySynchronously(for: key) == nil)
        #expect(!fixture.cache.containsSynchronously(key))
    }

    @Test func everyTruncationIsAMiss() throws {
        let fixture = DiskFixture()
        let original = try original(fixture)
        for length in 0..<original.count {
            for damaged in [original.prefix(length), original.suffix(length)] {
                try fixture.write(Data(damaged), as: key)
                #expect(fixture.cache.entrySynchronously(for: key) == nil, "length \(length)")
                #expect(!fixture.exists(key), "length \(length)")
                try fixture.write(Data(damaged), as: key)
                // Only the length is known without reading: whether the file is long enough.
                #expect(fixture.cache.containsSynchronously(key) == (length >= EntryFooter.size), "length \(length)")
            }
        }
        for extra in [Data([0]), original] {
            try fixture.write(original + extra, as: key)
            // Two files in a row end in a good trailer too.
            #expect(fixture.cache.entrySynchronously(for: key) == nil)
        }
    }

    @Test func anEmptyFileAsAPowerCutLeavesIt() throws {
        let fixture = DiskFixture()
        let original = try original(fixture)
        for damaged in [Data(), Data(count: original.count)] {
            try fixture.write(damaged, as: key)
            #expect(fixture.cache.entrySynchronously(for: key) == nil)
            #expect(!fixture.exists(key))
        }
    }

    @Test func lengthsThatOverflowAreAMiss() throws {
        let fixture = DiskFixture()
        let original = try original(fixture)
        let footer = original.count - EntryFooter.size
        for bytes: [UInt8] in [Array(repeating: 0xFF, count: 8), Array(repeating: 0xFF, count: 7) + [0x7F]] {
            for offset in [0, 8] {
                var damaged = original
                damaged.replaceSubrange(footer + offset..<footer + offset + 8, with: bytes)
                try fixture.write(damaged, as: key)
                #expect(fixture.cache.entrySynchronously(for: key) == nil)
            }
        }
    }

    @Test func anotherKeysFileIsAMissAndStays() async throws {
        let fixture = DiskFixture()
        let other = CacheKey("another key".utf8)
        let original = try original(fixture)
        try fixture.write(original, as: other)
        #expect(fixture.cache.entrySynchronously(for: other) == nil)
        // The key is stored in the file, which `contains` does not read.
        #expect(fixture.cache.containsSynchronously(other))
        #expect(fixture.exists(other))
        #expect(try await !fixture.cache.updateMetadata(Data(), for: other))
        try await fixture.cache.store(Data([5]), for: other)
        #expect(await fixture.cache.entry(for: other)?.data == Data([5]))
    }

    @Test func longTrailersAreVerifiedToo() async throws {
        let fixture = DiskFixture()
        let original = try original(fixture, extended: Data(repeating: 3, count: 9000))
        for index in [data.count, data.count + 4000, original.count - 4200, original.count - 1] {
            var damaged = original
            damaged[index] ^= 1
            try fixture.write(damaged, as: key)
            #expect(await fixture.cache.entries().isEmpty == (index >= data.count))
            try fixture.write(damaged, as: key)
            #expect(fixture.cache.entrySynchronously(for: key) == nil)
        }
    }

    // MARK: Files that are not entries

    @Test func danglingAndOtherLinksAreNotFollowed() async throws {
        let fixture = DiskFixture()
        let original = try original(fixture)
        let elsewhere = fixture.folder.appending(path: "elsewhere")
        for target in ["/nowhere/at/all", elsewhere.path] {
            try original.write(to: elsewhere)
            try FileManager.default.removeItem(at: fixture.file(key))
            try FileManager.default.createSymbolicLink(atPath: fixture.file(key).path, withDestinationPath: target)
            #expect(await fixture.cache.entry(for: key) == nil)
            #expect(await !fixture.cache.contains(key))
            #expect(await fixture.cache.count() == 0)
            try await fixture.cache.store(data, for: key)
            #expect(await fixture.cache.entry(for: key)?.data == data)
            #expect(try Data(contentsOf: elsewhere) == original)
        }
    }

    @Test func aFolderOrAPipeInAnEntrysPlace() async throws {
        let fixture = DiskFixture()
        _ = try original(fixture)
        try FileManager.default.removeItem(at: fixture.file(key))
        #expect(mkfifo(fixture.file(key).path, 0o600) == 0)
        #expect(await fixture.cache.entry(for: key) == nil)
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        try FileManager.default.removeItem(at: fixture.file(key))
        try FileManager.default.createDirectory(at: fixture.file(key), withIntermediateDirectories: false)
        #expect(await fixture.cache.entry(for: key) == nil)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
        await fixture.cache.remove(key)
        await fixture.cache.removeAll()
        #expect(fixture.exists(key))
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
    }

    @Test func foreignFilesSurvive() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(10))
        let inFanOut = fixture.file(key).deletingLastPathComponent()
        let wrongFolder = fixture.folder.appending(path: key.folderName == "ff" ? "00" : "ff")
        try FileManager.default.createDirectory(at: wrongFolder, withIntermediateDirectories: true)
        let foreign = [
            fixture.folder.appending(path: "notes.txt"), fixture.folder.appending(path: key.fileName),
            inFanOut.appending(path: "README"), inFanOut.appending(path: key.fileName.uppercased() + "X"),
            inFanOut.appending(path: ".halcyon-notes"), wrongFolder.appending(path: key.fileName),
        ]
        for file in foreign { try Data([1]).write(to: file) }
        fixture.clock.now = Date().addingTimeInterval(30 * 86_400)
        await fixture.cache.removeExpired()
        await fixture.cache.trim(to: 0)
        await fixture.cache.removeAll()
        #expect(!fixture.exists(key))
        #expect(foreign.allSatisfy { FileManager.default.fileExists(atPath: $0.path) })
        #expect(await fixture.cache.count() == 0)
    }

    /// The leftovers of a killed process: half a file under a temporary name, and no entry.
    @Test func temporaryFileOfKilledProcessIsRemovedLater() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        let half = fixture.file(key).deletingLastPathComponent().appending(path: ".halcyon-0123456789abcdef")
        try Data([1, 2]).write(to: half)
        fixture.clock.now = Date().addingTimeInterval(3000)
        await fixture.cache.removeExpired()
        // The file's process may still be writing it.
        #expect(FileManager.default.fileExists(atPath: half.path))
        fixture.clock.advance(by: .seconds(1000))
        await fixture.cache.removeExpired()
        #expect(!FileManager.default.fileExists(atPath: half.path))
    }
}
