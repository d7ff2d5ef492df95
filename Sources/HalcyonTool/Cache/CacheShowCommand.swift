import ArgumentParser
import Foundation
import Halcyon
import HalcyonCache
import HalcyonNetwork

/// `halcyon cache show`.
struct CacheShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the cache entries of a source.")

    @OptionGroup var cached: CachedSource

    func run() async throws {
        let report = CacheEntryReport(source: cached.name, entry: try await cached.entry())
        if cached.json {
            Output.line(Output.json(report))
        } else {
            Output.line("source      \(report.source)")
            Output.line("bytes       \(report.bytes)")
            Output.line("format      \(report.format ?? "unknown")")
            Output.line("stored      \(report.stored)")
            Output.line("kept until  \(report.keptUntil ?? "for ever")")
            if let freshUntil = report.freshUntil { Output.line("fresh until \(freshUntil)") }
            if let etag = report.etag { Output.line("etag        \(etag)") }
        }
    }
}

/// The source of a command on what the cache has of it.
struct CachedSource: ParsableArguments {
    @Argument(help: "The URL that was loaded.")
    var source: String
    @OptionGroup var cache: CacheFolder
    @Flag(help: "Prints one JSON object.")
    var json = false

    var images: ImageCache { ImageCache(disk: cache.diskCache) }
    var request: ImageRequest { ImageRequest(SourceList.source(source)) }
    var name: String { SourceList.withoutUser(source) }

    /// Returns the entry with the source's bytes.
    ///
    /// - Throws: `ExitCode`, after an error was printed, if there is none.
    func entry() async throws -> CacheEntry {
        if let entry = await images.storedOriginal(for: request) { return entry }
        Output.error("\(name): not in the cache (notInCache)")
        throw ExitCode(1)
    }
}

/// The output of `halcyon cache show`.
struct CacheEntryReport: Encodable {
    let source: String
    let bytes: Int
    let format: String?
    let stored: String
    let keptUntil: String?
    let freshUntil: String?
    let etag: String?

    init(source: String, entry: CacheEntry) {
        self.source = source
        bytes = entry.data.count
        format = (try? CoderRegistry.shared.probe(entry.data, isolation: .ofTool))?.format.name
        stored = entry.storedAt.formatted(.iso8601)
        keptUntil = entry.keptUntil.map { $0.formatted(.iso8601) }
        let http = HTTPCacheMetadata(decoding: entry.metadata)
        freshUntil = http?.freshUntil.map { $0.formatted(.iso8601) }
        etag = http?.etag
    }

    private enum Keys: String, CodingKey {
        case source, bytes, format, stored, keptUntil, freshUntil, etag
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(source, forKey: .source)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(format, forKey: .format)
        try container.encode(stored, forKey: .stored)
        try container.encode(keptUntil, forKey: .keptUntil)
        try container.encode(freshUntil, forKey: .freshUntil)
        try container.encode(etag, forKey: .etag)
    }
}
