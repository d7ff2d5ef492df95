import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskCacheTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    // MARK: Round trips

    @Test(arguments: [0, 1, 13, 14, 15, 16, 4096, 100_000], [0, 1, 5000]) func roundTrip(size: Int, sideSize: Int)
        async throws
    {
        let fixture = DiskFixture()
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let metadata = Data(repeating: 1, count: sideSize)
        let extended = Data(repeating: 2, count: sideSize / 2)
        #expect(await fixture.cache.entry(for: key) == nil)
        try await fixture.cache.store(data, metadata: metadata, extended: extended, for: key)
        let entry = try #require(await fixture.cache.entry(for: key))
        #expect(entry.data == data)
        #expect(entry.metadata == metadata)
        #expect(entry.extended == extended)
        #expect(entry.storedAt == fixture.clock.now)
        #expect(entry.keptUntil == fixture.clock.now.addingTimeInterval(7 * 86_400))
        #expect(await fixture.cache.contains(key))
        #expect(fixture.cache.containsSynchronously(key))
        #expect(fixture.cache.entrySynchronously(for: key) == entry)
        // The bytes come first, for any viewer.
        #expect(try Data(contentsOf: fixture.file(key)).prefix(size) == data)
        await fixture.cache.remove(key)
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(!fixture.exists(key))
    }

    @Test func largeFiles() async throws {
        let fixture = DiskFixture(sizeLimit: 1 << 30)
        let data = Data(repeating: 9, count: 17 << 20)
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        try fixture.write(data, as: key)
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(!fixture.exists(key))
    }

    @Test func longAndUnicodeKeys() async throws {
        let fixture = DiskFixture()
        let keys = [
            CacheKey(Data(repeating: 0x41, count: 4096)), CacheKey("https://例え.jp/画像/🐦.webp?x=ü#é".utf8), CacheKey([]),
            CacheKey("a/../../b\0c\n".utf8), CacheKey(Data(repeating: 0, count: 10_000)),
        ]
        for (number, key) in keys.enumerated() { try await fixture.cache.store(Data([UInt8(number)]), for: key) }
        for (number, key) in keys.enumerated() {
            #expect(await fixture.cache.entry(for: key)?.data == Data([UInt8(number)]))
            #expect(await fixture.cache.contains(key))
        }
        #expect(Set(await fixture.cache.entries().map(\.key)) == Set(keys))
    }

    @Test func overwriting() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, metadata: data, for: key)
        try await fixture.cache.store(Data([1]), for: key)
        let entry = await fixture.cache.entry(for: key)
        #expect(entry?.data == Data([1]))
        #expect(entry?.metadata.isEmpty == true)
        #expect(await fixture.cache.count() == 1)
    }

    @Test func slicesOfData() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data[4...9], metadata: data[1...2], extended: data[3...5], for: key)
        let entry = await fixture.cache.entry(for: key)
        #expect(entry?.data == Data(data[4...9]))
        #expect(entry?.metadata == Data(data[1...2]))
        #expect(entry?.extended == Data(data[3...5]))
    }

    @Test func aFolderOfOurOwn() async throws {
        let fixture = DiskFixture()
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.path))
        _ = await fixture.cache.entry(for: key)
        #expect(await fixture.cache.size() == 0)
        // Nothing before the first write.
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.path))
        try await fixture.cache.store(data, for: key)
        let tag = try String(contentsOf: fixture.folder.appending(path: "CACHEDIR.TAG"), encoding: .utf8)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        for path in [fixture.folder.path, fixture.file(key).deletingLastPathComponent().path] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
        }
        #expect(
            try FileManager.default.attributesOfItem(atPath: fixture.file(key).path)[.posixPermissions] as? Int
                == 0o600)
    }

    @Test func aDeletedFolderComesBack() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        try FileManager.default.removeItem(at: fixture.folder)
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(await !fixture.cache.contains(key))
        await fixture.cache.remove(key)
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(fixture.allFiles().contains("CACHEDIR.TAG"))
    }

    @Test func twoCachesOnOneFolder() async throws {
        let fixture = DiskFixture()
        let other = fixture.secondCache()
        try await fixture.cache.store(data, for: key)
        #expect(await other.entry(for: key)?.data == data)
        try await other.store(Data([2]), for: key)
        #expect(await fixture.cache.entry(for: key)?.data == Data([2]))
        await withTaskGroup { group in
            for number in 0..<40 {
                for cache in [fixture.cache, other] {
                    group.addTask {
                        let key = DiskFixture.key(number % 10)
                        try? await cache.store(Data(repeating: UInt8(number % 10), count: 3000), for: key)
                        let found = await cache.entry(for: key)?.data
                        #expect(found == nil || found == Data(repeating: UInt8(number % 10), count: 3000))
                        if number % 3 == 0 { await cache.remove(key) }
                        if number % 7 == 0 { await cache.trim(to: 9000) }
                    }
                }
            }
        }
        #expect(fixture.allFiles().allSatisfy { !$0.contains(".halcyon-") })
        await other.removeAll()
        #expect(await fixture.cache.count() == 0)
    }

    // MARK: Metadata

    @Test func newMetadata() async throws {
        let fixture = DiskFixture()
        #expect(try await !fixture.cache.updateMetadata(Data([1]), for: key))
        try await fixture.cache.store(
            data, metadata: Data([1]), extended: Data([2]), for: key, expiration: .seconds(1000))
        let before = try #require(await fixture.cache.entry(for: key))
        fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.cache.updateMetadata(Data([3, 4]), for: key))
        let after = try #require(await fixture.cache.entry(for: key))
        #expect(after.data == data)
        #expect(after.metadata == Data([3, 4]))
        #expect(after.extended == Data([2]))
        #expect(after.storedAt == before.storedAt)
        #expect(after.keptUntil == before.keptUntil)
        #expect(try await fixture.cache.updateMetadata(Data(), for: key, expiration: .seconds(5000)))
        #expect(
            await fixture.cache.entry(for: key)?.keptUntil == fixture.clock.now.addingTimeInterval(5000))
        #expect(try await !fixture.cache.updateMetadata(Data(), for: key, expiration: .expired))
        #expect(!fixture.exists(key))
    }

    @Test func aRemoveDuringAnUpdateWins() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        fixture.files.hold(.write)
        async let updated = fixture.cache.updateMetadata(Data([1]), for: key)
        try await fixture.files.waitForHeld(.write)
        fixture.cache.removeSynchronously(key)
        fixture.files.release(.write)
        #expect(try await !updated)
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
    }

    @Test func listing() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, metadata: Data([1]), extended: Data([2, 3]), for: key)
        fixture.clock.advance(by: .seconds(5))
        let long = CacheKey(Data(repeating: 1, count: 6000))
        try await fixture.cache.store(Data(), for: long, expiration: .never)
        let entries = await fixture.cache.entries()
        #expect(entries.count == 2)
        let first = try #require(entries.first { $0.key == key })
        #expect(first.metadata == Data([1]))
        #expect(first.extended == Data([2, 3]))
        #expect(first.dataSize == data.count)
        #expect(first.fileSize == data.count + key.bytes.count + 3 + 68)
        #expect(first.keptUntil == first.storedAt.addingTimeInterval(7 * 86_400))
        #expect(first.lastAccess == first.storedAt)
        let second = try #require(entries.first { $0.key == long })
        #expect(second.keptUntil == nil)
        let info = await fixture.cache.info()
        #expect(info.entries == 2)
        #expect(info.bytes == first.fileSize + second.fileSize)
        #expect(info.expired == 0)
        #expect(info.oldest == first.storedAt)
        #expect(info.folder == fixture.folder)
        fixture.clock.advance(by: .seconds(8 * 86_400))
        #expect(await fixture.cache.info().expired == 1)
    }
}
