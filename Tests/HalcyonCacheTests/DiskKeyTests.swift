import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCache

@Suite struct DiskKeyTests {
    @Test func theNameIsTheHash() {
        // Known values of XXH3-128.
        #expect(CacheKey([]).fileName == "99aa06d3014798d86001c324468d497f")
        let key = CacheKey("https://example.com/a.jpg".utf8)
        #expect(key.fileName.utf8.count == 32)
        #expect(key.fileName.hasPrefix(key.folderName))
        #expect(key.folderName.utf8.count == 2)
        #expect(EntryName(fileName: key.fileName) == EntryName(key))
        #expect(key == CacheKey(Array("https://example.com/a.jpg".utf8)))
        #expect(key != CacheKey("https://example.com/b.jpg".utf8))
    }

    @Test func keysComeFromEncoders() {
        var encoder = KeyEncoder()
        encoder.encode("a")
        encoder.encode(2)
        #expect(CacheKey(encoder).bytes == encoder.bytes)
        #expect(CacheKey(encoder) == CacheKey(encoder.bytes))
    }

    @Test(arguments: [
        "", "0123", "0123456789abcdef0123456789abcdeg", "0123456789ABCDEF0123456789ABCDEF",
        "0123456789abcdef0123456789abcdef0", ".halcyon-0123456789abcdef", "CACHEDIR.TAG",
    ]) func otherNamesAreNotOurs(name: String) {
        #expect(EntryName(fileName: name) == nil)
    }

    @Test func temporaryNames() {
        let folder = CacheFolder(URL(filePath: "/somewhere/cache/"))
        #expect(folder.path == "/somewhere/cache")
        let name = EntryName(CacheKey([1]))
        let temporary = folder.temporaryFile(in: name.folder, number: 1)
        #expect(temporary != folder.temporaryFile(in: name.folder, number: 2))
        #expect(temporary.hasPrefix("/somewhere/cache/\(name.folderName)/"))
        #expect(CacheFolder.isTemporary(URL(filePath: temporary).lastPathComponent))
        #expect(!CacheFolder.isTemporary(".halcyon-notes"))
        #expect(!CacheFolder.isTemporary(name.fileName))
    }

    @Test func theStandardFolder() {
        func path(_ environment: [String: String]) -> String {
            CacheFolder.standard(for: "org.example.App", environment: environment).path
        }
        #expect(path(["XDG_CACHE_HOME": "/x", "HOME": "/home/a"]) == "/x/org.example.App")
        #expect(path(["HOME": "/home/a"]) == "/home/a/.cache/org.example.App")
        #expect(path(["XDG_CACHE_HOME": "", "HOME": "/home/a"]) == "/home/a/.cache/org.example.App")
        #expect(path(["XDG_CACHE_HOME": "relative", "HOME": "/home/a"]) == "/home/a/.cache/org.example.App")
        #expect(DiskCache.defaultFolder(for: "app").path.hasSuffix("/app"))
    }
}
