import ArgumentParser
import Halcyon

/// `halcyon cache remove`.
struct CacheRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove what the cache holds for a source.")

    @Argument(help: "The URL, as it was loaded.")
    var source: String
    @OptionGroup var cache: CacheFolder
    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let images = ImageCache(disk: cache.diskCache)
        let request = ImageRequest(SourceList.source(source))
        guard let entry = await images.storedOriginal(for: request) else {
            Output.error("\(SourceList.withoutUser(source)): not in the cache (notInCache)")
            throw ExitCode(1)
        }
        await images.remove(request)
        CacheTidyReport(removedEntries: 1, removedBytes: entry.data.count).say(json: json)
    }
}
