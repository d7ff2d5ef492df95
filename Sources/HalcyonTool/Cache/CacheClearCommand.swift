import ArgumentParser
import Halcyon

/// `halcyon cache clear`.
struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove everything from the cache.")

    @OptionGroup var cache: CacheFolder
    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let removal = await cache.diskCache.removeAll()
        CacheTidyReport(removedEntries: removal.entries, removedBytes: removal.bytes).say(json: json)
    }
}
