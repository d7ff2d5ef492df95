import ArgumentParser
import Foundation
import Halcyon
import HalcyonCache

/// `halcyon cache info`.
struct CacheInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show the size and the content of the cache.")

    @OptionGroup var cache: CacheFolder
    @Flag(help: "Prints one JSON object.")
    var json = false

    func run() async throws {
        let report = CacheInfoReport(await cache.diskCache.info())
        if json {
            Output.line(Output.json(report))
        } else {
            Output.line("folder   \(report.folder)")
            Output.line("entries  \(report.entries), \(report.expired) expired")
            Output.line("bytes    \(report.bytes)")
            if let oldest = report.oldest { Output.line("oldest   \(oldest)") }
        }
    }
}

/// The output of `halcyon cache info`.
struct CacheInfoReport: Encodable {
    let folder: String
    let entries: Int
    let bytes: Int
    let expired: Int
    /// The last use of the entry that would be trimmed first, in ISO 8601.
    let oldest: String?

    init(_ info: DiskCache.Info) {
        folder = info.folder.path(percentEncoded: false)
        entries = info.entries
        bytes = info.bytes
        expired = info.expired
        oldest = info.oldest.map { $0.formatted(.iso8601) }
    }

    private enum Keys: String, CodingKey {
        case folder, entries, bytes, expired, oldest
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(folder, forKey: .folder)
        try container.encode(entries, forKey: .entries)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(expired, forKey: .expired)
        try container.encode(oldest, forKey: .oldest)
    }
}
