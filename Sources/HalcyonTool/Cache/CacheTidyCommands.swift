import ArgumentParser
import Halcyon
import HalcyonCache

/// `halcyon cache remove`.
struct CacheRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a source from the cache.")

    @OptionGroup var cached: CachedSource

    func run() async throws {
        let entry = try await cached.entry()
        await cached.images.remove(cached.request)
        CacheTidyReport(removedEntries: 1, removedBytes: entry.data.count).say(json: cached.json)
    }
}

/// `halcyon cache trim`.
struct CacheTrimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim", abstract: "Remove expired entries, then those unused the longest, down to a size.")

    @Option(help: "The size to trim to: 5000, 64K, 10M, 1G. (default: the cache's own limit)")
    var to: BytesArgument?
    @Flag(help: "Removes expired entries only.")
    var expired = false
    @OptionGroup var cache: CacheFolder
    @Flag(help: "Prints one JSON object.")
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

/// `halcyon cache clear`.
struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove everything from the cache.")

    @OptionGroup var cache: CacheFolder
    @Flag(help: "Prints one JSON object.")
    var json = false

    func run() async throws {
        let removal = await cache.diskCache.removeAll()
        CacheTidyReport(removedEntries: removal.entries, removedBytes: removal.bytes).say(json: json)
    }
}

/// The output of the commands that remove entries.
struct CacheTidyReport: Encodable {
    let removedEntries: Int
    let removedBytes: Int

    func say(json: Bool) {
        Output.line(json ? Output.json(self) : "removed \(removedEntries) entries, \(removedBytes) bytes")
    }
}
