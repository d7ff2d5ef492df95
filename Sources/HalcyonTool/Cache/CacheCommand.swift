import ArgumentParser
import Foundation
import Halcyon
import HalcyonCache

/// `halcyon cache`.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Inspect and clean the disk cache.",
        subcommands: [
            CacheInfoCommand.self, CacheShowCommand.self, CacheRemoveCommand.self, CacheTrimCommand.self,
            CacheClearCommand.self,
        ])
}

/// The option for the folder of the tool's disk cache.
struct CacheFolder: ParsableArguments {
    @Option(name: .customLong("cache"), help: "The cache folder. (default: $XDG_CACHE_HOME/halcyon)")
    var folder: String?

    var diskCache: DiskCache {
        DiskCache(folder: folder.map { URL(filePath: $0) } ?? DiskCache.defaultFolder(for: "halcyon"))
    }
}
