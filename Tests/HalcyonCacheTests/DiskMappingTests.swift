import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite(.timeLimit(.minutes(5))) struct DiskMappingTests {
    let key = DiskFixture.key
    let fixture = DiskFixture { $0.mappedReads = 4096 }
    let data = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    /// Whether this process has a mapping of one of the cache's files.
    func isMapped() throws -> Bool {
        let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
        // The kernel gives a part at a time.
        let text = String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text.contains("[stack]"))
        return text.contains(fixture.folder.lastPathComponent)
    }

    @Test func aMappingLivesAsLongAsTheData() async throws {
        try await fixture.cache.store(data, metadata: Data([1]), for: key)
        let reads = fixture.files.calls(of: .read)
        var entry = await fixture.cache.entry(for: key)
        #expect(entry?.data == data)
        #expect(entry?.metadata == Data([1]))
        #expect(fixture.files.calls(of: .map) == 1)
        #expect(fixture.files.calls(of: .read) == reads)
        #expect(try isMapped())
        // A file that is replaced or removed lives on for those that have it.
        let bytes = entry?.data
        entry = nil
        try await fixture.cache.store(Data(count: 10_000), for: key)
        await fixture.cache.remove(key)
        #expect(bytes == data)
        #expect(try isMapped())
    }

    @Test func aMappingGoesWithTheData() async throws {
        try await fixture.cache.store(data, for: key)
        for _ in 0..<20 { #expect(fixture.cache.entrySynchronously(for: key)?.data.last == data.last) }
        #expect(fixture.files.calls(of: .map) == 20)
        #expect(try !isMapped())
    }

    @Test func smallFilesAreRead() async throws {
        try await fixture.cache.store(Data([1]), for: key)
        #expect(await fixture.cache.entry(for: key)?.data == Data([1]))
        #expect(fixture.files.calls(of: .map) == 0)
        let plain = DiskFixture()
        try await plain.cache.store(data, for: key)
        #expect(await plain.cache.entry(for: key)?.data == data)
        #expect(plain.files.calls(of: .map) == 0)
    }

    @Test func mappedEntriesAreVerified() async throws {
        try await fixture.cache.store(data, for: key)
        let original = try Data(contentsOf: fixture.file(key))
        for index in stride(from: 0, to: original.count, by: 97) {
            var damaged = original
            damaged[index] ^= 1
            try fixture.write(damaged, as: key)
            #expect(await fixture.cache.entry(for: key) == nil)
            #expect(!fixture.exists(key))
        }
        try fixture.write(Data(count: 5000), as: key)
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(try !isMapped())
    }

    @Test(arguments: [ENOMEM, ENODEV, EACCES]) func entriesThatCannotBeMappedAreRead(code: Int32) async throws {
        try await fixture.cache.store(data, for: key)
        fixture.files.failAlways(.map, with: code)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(fixture.files.calls(of: .map) == 1)
    }

    @Test func anyThresholdIsTaken() async throws {
        for size in [Int.min, 0, 1, .max] {
            let fixture = DiskFixture { $0.mappedReads = size }
            try await fixture.cache.store(Data(), for: key)
            #expect(await fixture.cache.entry(for: key)?.data == Data())
        }
    }
}
