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

    /// An image, where it was and what it took.
    struct Found {
        let cached: CachedImage
        let place: CachePlace
        /// With a place that was looked at before.
        var lookup: Duration
        var decode: Duration?
        var process: Duration?
        var misses: [CacheMiss] = []
    }

    /// What was decoded, and how long that and the processors took.
    private struct Made {
        let image: Image
        let decode: Duration
        let process: Duration?
    }

    /// The image; nil where the disk has none that may answer now, or something is wrong with it: what that is, the load
    /// that follows finds out.
    func image() -> Found? {
        guard resolved.isRemote else { return nil }
        let started = ContinuousClock.now
        // What is damaged is for the load that follows.
        guard let finished = try? finished() else { return nil }
        if let found = finished.found { return found }
        let wasted = ContinuousClock.now - started
        guard var found = try? madeOfOriginal() else { return nil }
        found.lookup += wasted
        found.misses = finished.miss.map { [CacheMiss(.diskProcessed, $0)] } ?? []
        return found
    }

    /// - Returns: the image, or why it is not there; neither where it has no place of its own.
    private func finished() throws -> (found: Found?, miss: CacheMiss.Reason?) {
        let (key, started) = (resolved.key, ContinuousClock.now)
        guard resolved.hasPlaceOfItsOwn, resolved.target.disk != nil else { return (nil, nil) }
        guard resolved.cache.reads.contains(.diskProcessed) else { return (nil, .policy) }
        guard let entry = entry(in: resolved.target, at: \.processedDiskKey, isForAll: \.isFinishedForAll),
            let stored = FinishedImage(entry)
        else { return (nil, .notThere) }
        guard mayAnswer(stored.http) else {
            return (nil, check.rule(for: stored.http) == nil ? .expired : .otherFields)
        }
        let lookup = ContinuousClock.now - started
        let made = try decoded(entry, configuration.coders, options: key.finishedOptions, processors: [])
        let cached = CachedImage(
            image: stored.image(made.image), encodedBytes: entry.data.count, http: stored.http)
        return (Found(cached: cached, place: .diskProcessed, lookup: lookup, decode: made.decode), nil)
    }

    private func madeOfOriginal() throws -> Found? {
        let started = ContinuousClock.now
        guard resolved.cache.reads.contains(.diskOriginal),
            let entry = entry(in: resolved.originals, at: \.originalDiskKey, isForAll: \.isOriginalForAll),
            case let http = HTTPCacheMetadata(decoding: entry.metadata), mayAnswer(http)
        else { return nil }
        let lookup = ContinuousClock.now - started
        let (options, processors) = resolved.key.steps
        let coders = resolved.request.coders ?? configuration.coders
        let made = try decoded(entry, coders, options: options, processors: processors)
        let cached = CachedImage(image: made.image, encodedBytes: entry.data.count, http: http)
        return Found(
            cached: cached, place: .diskOriginal, lookup: lookup, decode: made.decode, process: made.process)
    }

    private func entry(
        in cache: ImageCache, at place: (ImageKey) -> DiskKey, isForAll: (DiskEntry) -> Bool
    ) -> DiskEntry? {
        resolved.key.firstEntrySynchronously(at: place, isForAll: isForAll) {
            cache.disk?.entrySynchronously(for: $0, extending: resolved.cache.diskExtension)
        }
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
    ) throws -> Made {
        let started = ContinuousClock.now
        let data = try resolved.serializer.readableImage(in: entry.data)
        let plan = try coders.plan(data, options: options)
        let image = try coders.budget.withReservation(of: plan.workingBytes) {
            try coders.decode(data, plan: plan, context: .uncancellable)
        }
        let decode = ContinuousClock.now - started
        guard !processors.isEmpty else { return Made(image: image, decode: decode, process: nil) }
        let processed = try processors.process(image, context: .uncancellable)
        return Made(image: processed, decode: decode, process: ContinuousClock.now - started - decode)
    }
}
