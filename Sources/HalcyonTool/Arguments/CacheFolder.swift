import ArgumentParser
import Foundation
import Halcyon

/// The option for the folder of the tool's disk cache.
struct CacheFolder: ParsableArguments {
    @Option(name: .customLong("cache"), help: "The cache folder. (default: $XDG_CACHE_HOME/halcyon)")
    var folder: String?

    var diskCache: DiskCache {
        DiskCache(folder: folder.map { URL(filePath: $0) } ?? DiskCache.defaultFolder(for: "halcyon"))
    }
}
