import ArgumentParser
import Halcyon

/// `halcyon cache trim`.
struct CacheTrimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim", abstract: "Remove what has expired, then the longest unused down to a size.")

    @Option(help: "The size to trim to: 5000, 64K, 10M, 1G. (default: the cache's own limit)")
    var to: BytesArgument?
    @Flag(help: "Remove only what has expired.")
    var expired = false
    @OptionGroup var cache: CacheFolder
    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        if expired, to != nil { throw ValidationError("--expired and --to exclude each other.") }
    }

    func run() async throws {
        let disk = cache.diskCache
        let removal = expired ? await disk.removeExpired() : await disk.trim(to: to?.bytes ?? disk.sizeLimit)
        CacheTidyReport(removedEntries: removal.entries, removedBytes: removal.bytes).say(json: json)
    }
}
