import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// Makes a request's image from its disk entry on the caller's thread, and stores it in memory.
struct SynchronousDisk {
    let resolved: ResolvedRequest

    /// Returns the image and its place in the caches; nil if the disk has none that may be used now, or if an error occurs,
    /// which the load that follows then reports.
    ///
    /// - Parameter metrics: receives the durations and the misses.
    func image(_ metrics: inout LoadMetrics) -> ((CachedImage, CacheRule?), CacheLevel)? {
        let mark = resolved.originals.changes.mark(resolved.key)
        guard let found = try? finished(&metrics) ?? original(&metrics) else { return nil }
        if !mark.isOutdated(in: .memory) {
            resolved.target.remember(found.0.0, for: resolved.key, policy: resolved.cachePolicy)
        }
        return found
    }

    private func finished(_ metrics: inout LoadMetrics) throws -> ((CachedImage, CacheRule?), CacheLevel)? {
        guard resolved.hasEntryOfItsOwn, resolved.mayUse(.diskProcessed), resolved.target.disk != nil else {
            return nil
        }
        guard resolved.cachePolicy.reads.contains(.diskProcessed) else {
            metrics.misses.append(CacheMiss(.diskProcessed, .policy))
            return nil
        }
        let watch = Stopwatch()
        let entry = entry(in: resolved.target, at: \.processedEntryKey, isForAll: \.isFinishedForAll)
        let finished = entry?.finishedImage
        metrics.lookup += watch.elapsed
        guard let entry, let finished else {
            metrics.misses.append(CacheMiss(.diskProcessed, .notFound))
            return nil
        }
        switch FreshnessCheck(resolved).verdict(on: finished.http) {
        case .refused(let reason):
            metrics.misses.append(CacheMiss(.diskProcessed, reason))
            return nil
        case .answers(let rule):
            let (coders, options) = (resolved.coordinator.configuration.coders, resolved.key.finishedOptions)
            let pixels = try decoded(entry, coders, options: options, isFinished: true, &metrics)
            let bytes = entry.data.count
            guard let cached = finished.cachedImage(pixels, for: resolved.key, encodedBytes: bytes) else {
                metrics.misses.append(CacheMiss(.diskProcessed, .notFound))
                return nil
            }
            return ((cached, rule), .diskProcessed)
        }
    }

    private func original(_ metrics: inout LoadMetrics) throws -> ((CachedImage, CacheRule?), CacheLevel)? {
        guard resolved.cachePolicy.reads.contains(.diskOriginal), resolved.mayUse(.diskOriginal) else { return nil }
        let watch = Stopwatch()
        guard let entry = entry(in: resolved.originals, at: \.originalEntryKey, isForAll: \.isOriginalForAll),
            case let http = HTTPCacheMetadata(decoding: entry.metadata),
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: http)
        else { return nil }
        metrics.lookup += watch.elapsed
        let (options, processors) = resolved.key.steps
        var image = try decoded(entry, resolved.coders, options: options, &metrics)
        if !processors.isEmpty {
            let watch = Stopwatch()
            image = try processors.process(image, context: .uncancellable)
            metrics.process = watch.elapsed
        }
        let cached = CachedImage(image: image, encodedBytes: entry.data.count, http: http)
        return ((cached, rule), .diskOriginal)
    }

    private func entry(
        in cache: ImageCache, at diskKey: (ImageKey) -> CacheKey, isForAll: (CacheEntry) -> Bool
    ) -> CacheEntry? {
        resolved.key.firstEntrySynchronously(at: diskKey, isForAll: isForAll) {
            cache.disk?.entrySynchronously(for: $0, extending: resolved.cachePolicy.diskExtension)
        }
    }

    private func decoded(
        _ entry: CacheEntry, _ coders: CoderRegistry, options: DecodeOptions, isFinished: Bool = false,
        _ metrics: inout LoadMetrics
    ) throws -> Image {
        let watch = Stopwatch()
        defer { metrics.decode = watch.elapsed }
        let data = try resolved.serializer.readableImage(in: entry.data)
        if isFinished, let stored = try StoredBitmap(data, limits: options.limits) {
            return try coders.budget.withReservation(of: stored.workingBytes) { try stored.image() }
        }
        let plan = try coders.plan(data, options: options)
        return try coders.budget.withReservation(of: plan.workingBytes) {
            try coders.decode(data, plan: plan, context: .uncancellable)
        }
    }
}
