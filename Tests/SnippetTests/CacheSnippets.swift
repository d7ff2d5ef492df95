// The examples of docs/Caches.md, compiled. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import Halcyon

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
