// The examples of docs/Caches.md, compiled. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import Halcyon
import HalcyonCache

func pipelineWithAFolder(_ folder: URL) -> ImagePipeline {
    let disk = DiskCache(folder: folder)
    let pipeline = ImagePipeline(configuration: .init(cache: ImageCache(disk: disk)))
    return pipeline
}

func cacheByHand(url: URL, request: ImageRequest, image: Image, bytes: Data) async throws {
    let cache = ImagePipeline.shared.cache
    let shown = cache.image(inMemoryFor: url)
    let found = try await cache.image(for: request)
    let level = await cache.cachedLevel(for: "avatar of user 7")
    try await cache.store(image, original: bytes, for: url)
    await cache.remove(request, from: .memory)
    await cache.removeExpired()
    print(await cache.diskSize, cache.memoryStatistics.hits)
    _ = (shown, found, level)
}

func cachePerRequest(url: URL) -> ImageRequest {
    var request = ImageRequest(url, processors: [.resize(to: PixelSize(96, 96))], cachePolicy: .storeProcessed)
    request.cachePolicy.diskExpiration = .days(90)
    request.cachePolicy.acceptsLarger = true
    return request
}

/// Some library's.
protocol SealedBox: Sendable {
    func seal(_ data: Data) throws -> Data
    func open(_ data: Data) throws -> Data
}

struct Sealed: CacheSerializer {
    let box: any SealedBox

    func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        try box.seal(try input.original ?? input.image.data(as: .png))
    }

    func data(forOriginal bytes: Data, url: URL?) throws -> Data? { try box.seal(bytes) }

    func encodedImage(in stored: Data) throws -> Data { try box.open(stored) }
}

func cacheKeys(disk: DiskCache) {
    let cache = ImageCache(disk: disk, serializer: .jpeg(quality: 0.8), keyFilter: .s3())
    cache.shutDownAtExit(signals: [SIGTERM, SIGINT])
}

func cacheStores(disk: DiskCache, database: any CacheStore) {
    let cache = ImageCache(disk: disk, stores: [database])
    _ = cache
}

/// A program's own table.
struct Row {
    let key: [UInt8]
    let bytes: [Data]
    let start: Date
    let end: Date
}

protocol Rows: Sendable {
    func row(_ name: String) async -> Row?
    func write(_ name: String, _ key: [UInt8], _ bytes: [Data], until end: Date) async throws
    func replace(_ name: String, _ key: [UInt8], _ metadata: Data, former: Data?, until end: Date?) async throws -> Bool
    func delete(_ name: String) async
    func deleteAll() async
}

struct Table: CacheStore {
    let rows: any Rows

    func entry(for key: CacheKey) async -> CacheEntry? {
        guard let row = await rows.row(key.fileName), row.key == key.bytes, row.end > Date() else { return nil }
        return CacheEntry(
            data: row.bytes[0], metadata: row.bytes[1], extended: row.bytes[2], keptUntil: row.end, storedAt: row.start)
    }

    func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws {
        let end = (expiration ?? .days(30)).end(from: Date())
        try await rows.write(key.fileName, key.bytes, [data, metadata, extended], until: end)
    }

    func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool {
        try await rows.replace(key.fileName, key.bytes, metadata, former: former, until: expiration?.end(from: Date()))
    }

    func remove(_ key: CacheKey) async { await rows.delete(key.fileName) }

    func clear() async { await rows.deleteAll() }
}

func cacheLimits(_ cache: ImageCache) {
    cache.memoryConfiguration.costLimit = 64 << 20
    cache.memoryConfiguration.timeToLive = .seconds(60)
    cache.disk?.sizeLimit = 256 << 20
    cache.disk?.sweepInterval = .seconds(600)
}

func cacheOnDisk(folder: URL, bundled: URL) async {
    var configuration = DiskCache.Configuration(sizeLimit: 512 << 20, expiration: .days(30))
    configuration.usesHashedFileName = false
    configuration.fileExtension = .fromKey
    configuration.readOnlyFolders = [bundled]
    let disk = DiskCache(folder: folder, configuration: configuration)
    for await removal in disk.removals {
        print(removal.reason, removal.fileNames)
    }
}
