import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing

/// Makes a request's image of what is on disk, on the caller's thread.
struct SynchronousDisk {
    let configuration: ImagePipeline.Configuration
    let check: FreshnessCheck
    let resolved: ResolvedRequest

    /// The image; nil where the disk has none that may answer now, or something is wrong with it: what that is, the load
    /// that follows finds out.
    func image() -> CachedImage? {
        guard resolved.isRemote else { return nil }
        return try? finished() ?? madeOfOriginal()
    }

    private func finished() throws -> CachedImage? {
        let key = resolved.key
        guard resolved.cache.reads.contains(.diskProcessed), resolved.hasPlaceOfItsOwn,
            let entry = entry(key.processedDiskKey, in: resolved.target), let stored = FinishedImage(entry),
            mayAnswer(stored.http)
        else { return nil }
        let pixels = try decoded(entry, configuration.coders, options: key.finishedOptions, processors: [])
        return CachedImage(image: stored.image(pixels), encodedBytes: entry.data.count, http: stored.http)
    }

    private func madeOfOriginal() throws -> CachedImage? {
        guard resolved.cache.reads.contains(.diskOriginal),
            let entry = entry(resolved.key.originalDiskKey, in: resolved.originals),
            case let http = HTTPCacheMetadata(decoding: entry.metadata), mayAnswer(http)
        else { return nil }
        let (options, processors) = resolved.key.steps
        let coders = resolved.request.coders ?? configuration.coders
        let image = try decoded(entry, coders, options: options, processors: processors)
        return CachedImage(image: image, encodedBytes: entry.data.count, http: http)
    }

    private func entry(_ key: DiskKey, in cache: ImageCache) -> DiskEntry? {
        cache.disk?.entrySynchronously(for: key, extending: resolved.cache.diskExtension)
    }

    private func mayAnswer(_ http: HTTPCacheMetadata?) -> Bool {
        guard check.rule(for: http) != nil else { return false }
        guard resolved.cache.freshness != .ignore, let http else { return true }
        let headers = configuration.downloader.defaultHeaders.merging(resolved.request.network.headers)
            .showing(resolved.request.network.credential)
        return http.matches(requestHeaders: headers)
    }

    private func decoded(
        _ entry: DiskEntry, _ coders: CoderRegistry, options: DecodeOptions, processors: [any ImageProcessor]
    ) throws -> Image {
        let data = try resolved.serializer.readableImage(in: entry.data)
        let plan = try coders.plan(data, options: options)
        let image = try coders.budget.withReservation(of: plan.workingBytes) {
            try coders.decode(data, plan: plan, context: .uncancellable)
        }
        return try processors.reduce(image) { try $1.process($0, context: .uncancellable) }
    }
}
