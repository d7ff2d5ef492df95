import Foundation
import Glibc
import TestSupport
import Testing

/// One object of `cache info --json`.
struct CacheInfoLine: Decodable, Sendable {
    let folder: String
    let entries: Int
    let bytes: Int
    let expired: Int
    let oldest: String?
}

/// One object of `cache show --json`.
struct CacheShowLine: Decodable, Sendable {
    let source: String
    let bytes: Int
    let format: String?
    let stored: String
    let keptUntil: String?
    let freshUntil: String?
    let etag: String?
}

/// `halcyon cache`.
@Suite(.timeLimit(.minutes(5))) struct ToolCacheTests {
    private struct Removal: Decodable, Equatable {
        let removedEntries: Int
        let removedBytes: Int
    }

    private static let files = ["png/rgb8.png", "jpeg/baseline-420.jpg", "webp/lossy.webp"]

    /// A cache that holds the three files, and the URLs that they came from.
    private func filled(_ tool: Tool) async throws -> [String] {
        let server = try await fixtureServer(
            Self.files[0], Self.files[1], Self.files[2],
            headers: ["Cache-Control": "max-age=3600", "ETag": "\"one\""])
        let urls = Self.files.map { server.url("/\($0)").absoluteString }
        let result = try await tool.load(urls[0], urls[1], urls[2])
        try #require(result.status == 0, "\(result.errors)")
        await server.stop()
        return urls
    }

    private func info(_ tool: Tool) async throws -> CacheInfoLine {
        let result = try await tool.cache("info", "--json")
        #expect(try result.keys() == [["folder", "entries", "bytes", "expired", "oldest"]])
        return try #require(try result.objects(CacheInfoLine.self).first)
    }

    private func removal(_ result: ToolResult) throws -> Removal {
        #expect(result.status == 0, "\(result.errors)")
        return try #require(try result.objects(Removal.self).first)
    }

    @Test func infoReportsEntriesAndBytes() async throws {
        let tool = try Tool()
        let empty = try await info(tool)
        #expect(empty.entries == 0 && empty.bytes == 0 && empty.expired == 0 && empty.oldest == nil)
        _ = try await filled(tool)
        let full = try await info(tool)
        #expect(full.folder.hasPrefix(tool.path("cache")))
        #expect(full.entries == 3 && full.expired == 0)
        #expect(full.bytes > (try Self.files.reduce(0) { $0 + (try TestFiles.data($1).count) }))
        _ = try Date(try #require(full.oldest), strategy: .iso8601)
        let lines = try await tool.cache("info").lines
        #expect(lines.contains("entries  3, 0 expired"))
    }

    @Test func showTellsWhatIsKnownOfAnEntry() async throws {
        let tool = try Tool()
        let urls = try await filled(tool)
        let result = try await tool.cache("show", urls[1], "--json")
        #expect(
            try result.keys() == [["source", "bytes", "format", "stored", "keptUntil", "freshUntil", "etag"]])
        let line = try #require(try result.objects(CacheShowLine.self).first)
        #expect(line.source == urls[1])
        #expect(line.bytes == (try TestFiles.data(Self.files[1]).count))
        #expect(line.format == "jpeg")
        #expect(line.etag == "\"one\"")
        let stored = try Date(line.stored, strategy: .iso8601)
        let fresh = try Date(try #require(line.freshUntil), strategy: .iso8601).timeIntervalSince(stored)
        #expect((3400...3610).contains(fresh))
        let kept = try Date(try #require(line.keptUntil), strategy: .iso8601).timeIntervalSince(stored)
        #expect(abs(kept - 7 * 86_400) <= 10)
        let people = try await tool.cache("show", urls[1]).text
        for word in [urls[1], "jpeg", "\"one\""] { #expect(people.contains(word)) }
    }

    @Test(arguments: ["show", "remove"])
    func missingEntryReportsNotInCache(command: String) async throws {
        let tool = try Tool()
        let result = try await tool.cache(command, "http://127.0.0.1/a.png", "--json")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errorLines.map { $0.hasPrefix("halcyon: http://127.0.0.1/a.png: ") } == [true])
        #expect(result.errors.contains("(notInCache)"))
    }

    @Test func removeTakesOneEntry() async throws {
        let tool = try Tool()
        let urls = try await filled(tool)
        let removed = try removal(try await tool.cache("remove", urls[0], "--json"))
        #expect(removed == Removal(removedEntries: 1, removedBytes: try TestFiles.data(Self.files[0]).count))
        #expect(try await tool.cache("show", urls[0]).status == 1)
        #expect(try await tool.cache("show", urls[1]).status == 0)
        #expect(try await info(tool).entries == 2)
    }

    @Test func trimRemovesTheLongestUnusedDownToASize() async throws {
        let tool = try Tool()
        let urls = try await filled(tool)
        let before = try await info(tool)
        // The order of use, a day apart; time moves on its own only by seconds.
        let entries = try urls.map { try file(tool, $0) }
        for (index, file) in entries.enumerated() { try setTimes(of: file, accessed: Double(index - 3) * 86_400) }
        let removed = try removal(try await tool.cache("trim", "--to", "\(before.bytes - 1)", "--json"))
        #expect(removed.removedEntries == 1)
        #expect(try await tool.cache("show", urls[0]).status == 1)
        #expect(try await info(tool).bytes == before.bytes - removed.removedBytes)
        #expect(try removal(try await tool.cache("trim", "--to", "1G", "--json")).removedEntries == 0)
        #expect(try removal(try await tool.cache("trim", "--json")).removedEntries == 0)
        #expect(try removal(try await tool.cache("trim", "--to", "0", "--json")).removedEntries == 2)
        #expect(try await info(tool).entries == 0)
    }

    @Test func trimCanRemoveTheExpiredAlone() async throws {
        let tool = try Tool()
        let urls = try await filled(tool)
        #expect(try removal(try await tool.cache("trim", "--expired", "--json")).removedEntries == 0)
        try setTimes(of: try file(tool, urls[2]), modified: -60)
        #expect(try await info(tool).expired == 1)
        let removed = try removal(try await tool.cache("trim", "--expired", "--json"))
        #expect(removed.removedEntries == 1 && removed.removedBytes > 0)
        #expect(try await tool.cache("show", urls[2]).status == 1)
        #expect(try await info(tool).entries == 2)
    }

    @Test func clearLeavesNothing() async throws {
        let tool = try Tool()
        _ = try await filled(tool)
        let bytes = try await info(tool).bytes
        let removed = try removal(try await tool.cache("clear", "--json"))
        #expect(removed == Removal(removedEntries: 3, removedBytes: bytes))
        #expect(try await info(tool).entries == 0)
        #expect(try await tool.cache("clear").text == "removed 0 entries, 0 bytes\n")
    }

    @Test(arguments: [
        ["trim", "--to", "1K", "--expired"], ["trim", "--to", "much"], ["trim", "--to=-1"], ["show"], ["remove"],
        ["nothing"], ["clear", "--nothing"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        #expect(try await Tool().run(["cache"] + arguments).status == 64)
    }

    /// The file that holds a URL's bytes; its trailer names the URL.
    private func file(_ tool: Tool, _ url: String) throws -> URL {
        let folder = tool.folder.appending(path: "cache")
        let all = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        let found = all.compactMap { $0 as? URL }.filter { file in
            (try? Data(contentsOf: file))?.range(of: Data(url.utf8)) != nil
        }
        try #require(found.count == 1)
        return found[0]
    }

    /// Sets an entry's times, in seconds from now: its last use, and until when it is kept. To read it moves the first.
    private func setTimes(of file: URL, accessed: Double? = nil, modified: Double? = nil) throws {
        let path = file.path(percentEncoded: false)
        var status = stat()
        try #require(stat(path, &status) == 0)
        let now = Date().timeIntervalSince1970
        func time(_ offset: Double?, else old: timespec) -> timespec {
            offset.map { timespec(tv_sec: Int(now + $0), tv_nsec: 0) } ?? old
        }
        let times = [time(accessed, else: status.st_atim), time(modified, else: status.st_mtim)]
        try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
    }
}
