import Foundation
import Testing

@testable import HalcyonCache

@Suite(.timeLimit(.minutes(5))) struct DiskNamingTests {
    let data = DiskFixture.data

    func fixture(_ fileExtension: DiskCache.FileExtension = .none, hashed: Bool = false) -> DiskFixture {
        DiskFixture {
            $0.usesHashedFileName = hashed
            $0.fileExtension = fileExtension
        }
    }

    func fileName(_ key: CacheKey, _ fixture: DiskFixture) -> String {
        fixture.cache.path(for: key).lastPathComponent
    }

    // MARK: Extensions

    @Test(
        arguments: [
            ("https://example.com/a.jpg", "jpg"), ("https://example.com/a.jpg?b=c.png", "jpg"),
            ("https://example.com/a?b=c.png", nil), ("https://example.com/a.jpg#b.png", "jpg"),
            ("https://example.com/a.b/c", nil), ("https://example.com", nil), ("https://example.com/", nil),
            ("//example.com", nil), ("/tmp/a.png", "png"), ("a.png", "png"), ("a.png@org.example.blur", "png"),
            ("https://example.com/a@2x.png", "png"), ("https://example.com/a@2x.png@round", "png"),
            ("https://user@example.com/a.webp", "webp"), ("https://example.com/a.", nil),
            ("https://example.com/.hidden", "hidden"),
            ("a.12345678901234567890", "12345678901234567890"), ("a.123456789012345678901", nil), ("a.j_g", nil),
            ("a.jp g", nil), ("a.ü", nil), ("a.tar.gz", "gz"), ("", nil), (".", nil), ("..", nil), ("a.\0", nil),
            ("a.j/g", nil),
        ] as [(String, String?)])
    func anExtensionFromTheKey(name: String, expected: String?) {
        let key = CacheKey(name)
        let end = expected.map { ".\($0)" } ?? ""
        #expect(fileName(key, fixture(.fromKey, hashed: true)) == key.fileName + end)
    }

    @Test func anExtensionThatIsAlwaysTheSame() {
        let key = CacheKey("https://example.com/a.jpg")
        #expect(fileName(key, fixture(.fixed("bin"), hashed: true)) == key.fileName + ".bin")
        for text in ["", "a.b", "../x", "a/b", "\0", String(repeating: "a", count: 21)] {
            #expect(fileName(key, fixture(.fixed(text), hashed: true)) == key.fileName)
        }
        #expect(fileName(CacheKey([1]), fixture(.fromKey, hashed: true)) == CacheKey([1]).fileName)
    }

    // MARK: Readable names

    @Test(arguments: [
        ("https://example.com/a.jpg", "https%3A%2F%2Fexample.com%2Fa.jpg"), (".", "%2E"), ("..", "%2E."),
        (".halcyon-0123456789abcdef", "%2Ehalcyon-0123456789abcdef"), ("a/../b", "a%2F..%2Fb"), ("a\0b", "a%00b"),
        ("ü", "%C3%BC"), ("a%2Fb~", "a%252Fb%7E"),
        ("0123456789abcdef0123456789abcdef", "%30123456789abcdef0123456789abcdef"),
        ("0123456789abcdef0123456789abcdef.jpg", "%30123456789abcdef0123456789abcdef.jpg"),
    ])
    func aReadableName(name: String, expected: String) async throws {
        let fixture = fixture()
        let key = CacheKey(name)
        let path = fixture.cache.path(for: key).path(percentEncoded: false)
        #expect(path == "\(fixture.folder.path(percentEncoded: false))/\(key.folderName)/\(expected)")
        try await fixture.cache.store(data, for: key)
        #expect(fixture.allFiles() == ["CACHEDIR.TAG", "\(key.folderName)/\(expected)"])
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(await fixture.cache.count() == 1)
    }

    @Test func longNamesEndInTheHash() async throws {
        let fixture = fixture(.fixed("jpg"))
        let names = [
            String(repeating: "a", count: 180), String(repeating: "a", count: 181), String(repeating: "a", count: 4096),
            String(repeating: "/", count: 60), String(repeating: "/", count: 61), String(repeating: "🐦", count: 1000),
        ]
        var found: Set<String> = []
        for name in names {
            let key = CacheKey(name)
            let fileName = fileName(key, fixture)
            #expect(fileName.utf8.count <= 184)
            #expect(
                fileName.hasSuffix("~\(key.fileName).jpg") == !["a", "/"].contains {
                    name == String(repeating: $0, count: $0 == "a" ? 180 : 60)
                })
            // No escape is cut in two.
            #expect(fileName.removingPercentEncoding != nil || name.hasPrefix("🐦"))
            found.insert(fileName)
            try await fixture.cache.store(Data(name.utf8), for: key)
        }
        #expect(found.count == names.count)
        for name in names { #expect(await fixture.cache.entry(for: CacheKey(name))?.data == Data(name.utf8)) }
        #expect(await fixture.cache.count() == names.count)
    }

    @Test func aKeyWithoutANameIsHashed() {
        let key = CacheKey([1, 2, 3])
        #expect(fileName(key, fixture()) == key.fileName)
        #expect(fileName(CacheKey([1, 2, 3], name: ""), fixture(.fixed("png"))) == key.fileName + ".png")
        #expect(CacheKey([1], name: "a") == CacheKey([1], name: "b"))
        #expect(Set([CacheKey([1], name: "a"), CacheKey([1])]).count == 1)
        #expect(CacheKey("a") == CacheKey("a".utf8))
    }

    @Test(arguments: [true, false], [DiskCache.FileExtension.none, .fromKey, .fixed("bin")])
    func everythingWorksWithEveryName(hashed: Bool, rule: DiskCache.FileExtension) async throws {
        let fixture = fixture(rule, hashed: hashed)
        let keys = (0..<20).map { CacheKey("https://example.com/\($0).jpg?q=\($0)") }
        for key in keys { try await fixture.cache.store(data, for: key) }
        await fixture.cache.stage(Data([1]), for: keys[0])
        await fixture.cache.flush()
        #expect(await fixture.cache.entry(for: keys[0])?.data == Data([1]))
        #expect(await fixture.cache.contains(keys[1]))
        #expect(try await fixture.cache.updateMetadata(Data([9]), for: keys[1]))
        #expect(await fixture.cache.entry(for: keys[1])?.metadata == Data([9]))
        #expect(await fixture.cache.size() == fixture.cache.estimatedSize)
        // A listed key leads to its file, though names are not kept.
        let listed = await fixture.cache.entries().map(\.key)
        #expect(Set(listed) == Set(keys))
        for key in listed { #expect(FileManager.default.fileExists(atPath: fixture.cache.path(for: key).path)) }
        await fixture.cache.remove(keys[2])
        #expect(await !fixture.cache.contains(keys[2]))
        #expect(await fixture.cache.removeAll().entries == 19)
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
    }

    @Test func damagedEntryWithReadableNameIsRemoved() async throws {
        let fixture = fixture(.fromKey)
        let key = CacheKey("https://example.com/a.jpg")
        try await fixture.cache.store(data, for: key)
        var bytes = try Data(contentsOf: fixture.cache.path(for: key))
        bytes[0] ^= 1
        try bytes.withUnsafeBytes { bytes in
            let path = fixture.cache.path(for: key).path
            let times = try fixture.files.status(at: path)
            try fixture.files.unlink(path)
            let file = try fixture.files.open(path, for: .creating)
            _ = try fixture.files.write(file, bytes)
            try fixture.files.setTimes(of: file, accessed: times.accessed, modified: times.modified)
            try fixture.files.close(file)
        }
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
    }

    // MARK: Whose files they are

    /// Entries that were written with other settings are not found, but are not left for ever either.
    @Test func entriesOfOtherSettingsAreSwept() async throws {
        let names = fixture(.fromKey)
        let keys = (0..<10).map { CacheKey("https://example.com/\($0).jpg") }
        let configurations = [
            (true, DiskCache.FileExtension.none), (true, .fixed("png")), (false, .none), (false, .fromKey),
        ]
        for (hashed, rule) in configurations {
            var configuration = names.cache.configuration
            (configuration.usesHashedFileName, configuration.fileExtension) = (hashed, rule)
            let cache = DiskCache(
                folder: names.folder, configuration: configuration, timeSource: names.clock.timeSource)
            for key in keys { try await cache.store(data, for: key, expiration: .seconds(100)) }
        }
        for hashed in [true, false] {
            var configuration = names.cache.configuration
            configuration.usesHashedFileName = hashed
            let cache = DiskCache(
                folder: names.folder, configuration: configuration, timeSource: names.clock.timeSource)
            #expect(await cache.count() == 40)
        }
        #expect(await names.cache.trim(to: names.cache.size() / 2).entries == 20)
        names.clock.advance(by: .seconds(101))
        #expect(await names.cache.removeExpired().entries == 20)
        #expect(names.allFiles() == ["CACHEDIR.TAG"])
    }

    @Test(arguments: [true, false]) func foreignFilesAreNeverCountedOrRemoved(hashed: Bool) async throws {
        let fixture = fixture(.fromKey, hashed: hashed)
        let key = CacheKey("https://example.com/a.jpg")
        try await fixture.cache.store(data, for: key)
        let folder = fixture.cache.path(for: key).deletingLastPathComponent()
        let foreign = [
            "notes.txt", "https%3A%2F%2Fexample.com%2Fb.jpg", key.fileName + ".tar.gz", ".hidden", "a~" + key.fileName,
        ]
        for name in foreign { try Data(count: 500).write(to: folder.appending(path: name)) }
        #expect(await fixture.cache.count() == 1)
        #expect(await fixture.cache.size() == fixture.cache.estimatedSize)
        fixture.clock.now = Date().addingTimeInterval(365 * 86_400)
        await fixture.cache.sweep()
        await fixture.cache.trim(to: 0)
        await fixture.cache.removeAll()
        #expect(fixture.allFiles() == Set(["CACHEDIR.TAG"] + foreign.map { "\(key.folderName)/\($0)" }))
    }
}
