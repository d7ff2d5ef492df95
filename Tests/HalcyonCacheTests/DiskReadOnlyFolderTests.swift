import Foundation
import Testing

@testable import HalcyonCache

@Suite(.timeLimit(.minutes(5))) struct DiskReadOnlyFolderTests {
    let key = CacheKey("https://example.com/a.jpg")
    let data = DiskFixture.data

    /// A folder as a program may bring it along, and a cache that looks there.
    func fixtures(
        expiration: StorageExpiration = .seconds(10), _ configure: (inout DiskCache.Configuration) -> Void = { _ in }
    ) async throws -> (bundle: DiskFixture, cache: DiskFixture) {
        let bundle = DiskFixture(expiration: expiration)
        try await bundle.cache.store(data, metadata: Data([1]), extended: Data([2]), for: key)
        let cache = DiskFixture {
            $0.readOnlyFolders = [bundle.folder.appending(path: "nothing"), bundle.folder]
            configure(&$0)
        }
        return (bundle, cache)
    }

    @Test func readOnlyEntriesAreFoundAndNeverExpire() async throws {
        let (bundle, fixture) = try await fixtures()
        let before = try bundle.status(key)
        fixture.clock.advance(by: .seconds(10 * 365 * 86_400))
        let entry = try #require(await fixture.cache.entry(for: key))
        #expect(entry.data == data)
        #expect(entry.metadata == Data([1]))
        #expect(entry.extended == Data([2]))
        #expect(entry.keptUntil == nil)
        #expect(fixture.cache.entrySynchronously(for: key) == entry)
        #expect(await fixture.cache.peek(key) == entry)
        #expect(await fixture.cache.contains(key))
        #expect(fixture.cache.containsSynchronously(key))
        #expect(fixture.cache.statistics.hits == 2)
        #expect(try bundle.status(key) == before)
        #expect(await fixture.cache.entry(for: DiskFixture.key(1)) == nil)
        #expect(await !fixture.cache.contains(DiskFixture.key(1)))
        // Nor is anything made where nothing was written.
        #expect(fixture.allFiles().isEmpty)
    }

    @Test func readOnlyEntriesAreNeitherCountedNorRemoved() async throws {
        let (bundle, fixture) = try await fixtures()
        #expect(await fixture.cache.size() == 0)
        #expect(await fixture.cache.count() == 0)
        #expect(await fixture.cache.entries().isEmpty)
        fixture.clock.advance(by: .seconds(86_400))
        await fixture.cache.remove(key)
        await fixture.cache.removeExpired()
        await fixture.cache.sweep()
        await fixture.cache.trim(to: 0)
        await fixture.cache.removeAll()
        #expect(try await !fixture.cache.updateMetadata(Data([5]), for: key))
        #expect(bundle.exists(key))
        #expect(await fixture.cache.entry(for: key)?.metadata == Data([1]))
    }

    @Test func ownEntryPrecedesReadOnlyEntry() async throws {
        let (bundle, fixture) = try await fixtures()
        try await fixture.cache.store(Data([9]), for: key, expiration: .seconds(100))
        #expect(await fixture.cache.entry(for: key)?.data == Data([9]))
        #expect(bundle.exists(key))
        await fixture.cache.remove(key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(bundle.exists(key))
    }

    @Test func foldersAreAskedInOrder() async throws {
        let first = DiskFixture()
        let second = DiskFixture()
        try await first.cache.store(Data([1]), for: key)
        try await second.cache.store(Data([2]), for: key)
        try await second.cache.store(Data([3]), for: DiskFixture.key(1))
        let fixture = DiskFixture { $0.readOnlyFolders = [first.folder, second.folder] }
        #expect(await fixture.cache.entry(for: key)?.data == Data([1]))
        #expect(await fixture.cache.entry(for: DiskFixture.key(1))?.data == Data([3]))
    }

    @Test func damagedReadOnlyEntryIsMissAndStays() async throws {
        let (bundle, fixture) = try await fixtures()
        let original = try Data(contentsOf: bundle.file(key))
        for index in original.indices {
            var damaged = original
            damaged[index] ^= 1
            try bundle.write(damaged, as: key)
            #expect(await fixture.cache.entry(for: key) == nil)
            #expect(bundle.exists(key))
        }
        for length in [0, 10, original.count - 1] {
            try bundle.write(original.prefix(length), as: key)
            #expect(await fixture.cache.entry(for: key) == nil)
            #expect(bundle.exists(key))
        }
        #expect(fixture.cache.statistics.damaged == 0)
    }

    @Test func readOnlyFileOfAnotherKeyIsMiss() async throws {
        let (bundle, fixture) = try await fixtures()
        let other = DiskFixture.key(1)
        try bundle.write(Data(contentsOf: bundle.file(key)), as: other)
        #expect(await fixture.cache.entry(for: other) == nil)
    }

    /// By this cache's names, and by the plain hash, as most folders are filled.
    @Test(arguments: [true, false]) func readOnlyEntriesAreFoundByBothNames(isBundleHashed: Bool) async throws {
        let bundle = DiskFixture {
            $0.usesHashedFileName = isBundleHashed
            $0.fileExtension = isBundleHashed ? .none : .fromKey
        }
        try await bundle.cache.store(data, for: key)
        let fixture = DiskFixture {
            $0.usesHashedFileName = false
            $0.fileExtension = .fromKey
            $0.readOnlyFolders = [bundle.folder]
        }
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(await fixture.cache.contains(key))
    }
}
