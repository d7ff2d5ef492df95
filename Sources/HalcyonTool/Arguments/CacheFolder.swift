import ArgumentParser
import Foundation
import Halcyon

/// Where the tool keeps its disk cache.
struct CacheFolder: ParsableArguments {
    @Option(name: .customLong("cache"), help: "The cache folder. (default: $XDG_CACHE_HOME/halcyon)")
    var folder: String?

    var diskCache: DiskCache {
        DiskCache(folder: folder.map { URL(filePath: $0) } ?? DiskCache.defaultFolder(for: "halcyon"))
    }
}
