import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// Finished images in memory, bytes on disk.
///
/// Images are found by URL, by a text, by a request with its processors, or by an `ImageKey`. All members may be called
/// from any thread; only those named for memory answer without waiting.
public final class ImageCache: Sendable {
    /// Where an image is kept.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        case memory, disk
    }

    let memoryCache: MemoryCache<ImageKey, CachedImage>
    let sizes = SizeIndex()
    /// What pipelines have given and is not on its way to the disk yet, within the bytes that the disk itself may stage.
    let stores: StoreQueue
    let removals = RemovalMarks()
    let news = SourceNews()
    /// For as long as this cache lives.
    private let pressure: MemoryPressureSubscription?
    /// Nil keeps nothing beyond the process.
    public let disk: DiskCache?
    /// What decodes the disk's bytes when this cache itself is asked; a pipeline uses its own.
    public let coders: CoderRegistry
    /// Which bytes the disk keeps of an image, where a request does not say.
    public let serializer: any CacheSerializer
    /// What makes the key of a URL; nil takes the URL as it is, but for its fragment.
    public let keyFilter: CacheKeyFilter?

    /// - Parameters:
    ///   - memory: limits of the memory level; by default a quarter of what the system grants, at most 1 GiB.
    ///   - disk: the disk level; nil for none.
    ///   - clock: for the memory level's time to live; nil is the system's, read in the cheapest way.
    ///   - memoryPressure: what says that memory gets short: memory is then trimmed to a half, to a tenth, to nothing.
    ///     What is in use elsewhere is found all the same. By default the kernel's word and the limit of the control
    ///     group; nil never trims.
    public init(
        memory: MemoryCacheConfiguration = MemoryCacheConfiguration(), disk: DiskCache?,
        coders: CoderRegistry = .shared, serializer: any CacheSerializer = .default,
        keyFilter: CacheKeyFilter? = nil, clock: TimeSource? = nil,
        memoryPressure: (any MemoryPressureSource)? = SystemMemoryPressure.shared
    ) {
        let memoryCache = MemoryCache<ImageKey, CachedImage>(
            configuration: memory, timeSource: clock, weakly: { $0.weakReference })
        self.memoryCache = memoryCache
        pressure = memoryPressure?.subscribe { [weak memoryCache] in memoryCache?.relieve($0) }
        self.disk = disk
        stores = StoreQueue(limit: disk?.configuration.stagingLimit ?? 0)
        self.coders = coders
        self.serializer = serializer
        self.keyFilter = keyFilter
    }

    /// The key under which the cache finds an image. A request's key includes the user that its own credential and fields
    /// name; `ImagePipeline.key(for:)` adds those that the pipeline's downloader sends.
    public func key(for item: some ImageKeyConvertible) -> ImageKey {
        item.imageKey(filter: keyFilter)
    }

    // MARK: - Memory

    /// The image in memory, whatever HTTP says of its age, in under a microsecond and on the caller's thread; nil when it
    /// is not there. By a request, as its policy says: not at all, or a larger one as well.
    public func image(inMemoryFor item: some ImageKeyConvertible) -> Image? {
        image(for: key(for: item), policy: item.cachePolicy)?.image
    }

    /// Lets the longest-unused images go until the rest takes this fraction of what it took; those in use elsewhere are
    /// found all the same.
    public func trimMemory(toFraction fraction: Double) {
        memoryCache.trim(toFraction: fraction)
    }

    /// Forgets what is in memory; images in use stay as they are, and are not found any more.
    public func clearMemory() {
        memoryCache.removeAll()
        sizes.removeAll()
    }

    /// Bytes of pixels in memory, and how often they were asked for.
    public var memoryStatistics: MemoryCacheStatistics { memoryCache.statistics }

    // MARK: - The end

    /// Encodes and writes what waits, and trims, within a time. A program calls it before it ends.
    ///
    /// - Returns: whether all was written in time.
    @discardableResult
    public func shutdown(within time: Duration = .seconds(2)) async -> Bool {
        let deadline = ContinuousClock.now + time.forTimer
        await withTaskGroup { group in
            group.addTask { await self.stores.drain() }
            group.addTask { try? await Task.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
        return await disk?.shutdown(within: max(.zero, deadline - ContinuousClock.now)) ?? true
    }

    // MARK: - For the pipeline

    func image(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        guard policy.reads.contains(.memory) else { return nil }
        if let cached = keptImage(for: key, policy: policy) { return cached }
        return policy.acceptsLarger && key.admitsLarger ? larger(for: key, policy: policy) : nil
    }

    /// Forgets the image before any processor, unless the policy has just put it there.
    func forgetUnprocessed(_ key: ImageKey, policy: CachePolicy) {
        if !policy.writes.contains(.memoryOriginal) { forget(key.unprocessed) }
    }

    /// Forgets what memory has for a key.
    func forget(_ key: ImageKey) {
        memoryCache.remove(key)
        if key.user != nil { memoryCache.remove(key.of(nil)) }
    }

    /// The image of exactly this key: its user's, else everybody's.
    func keptImage(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        if let cached = memoryCache.value(for: key, extending: policy.memoryExtension) { return cached }
        guard key.user != nil, let cached = memoryCache.value(for: key.of(nil), extending: policy.memoryExtension),
            ImageKey.isForAll(cached.http)
        else { return nil }
        return cached
    }

    func remember(_ cached: CachedImage, for key: ImageKey, policy: CachePolicy) {
        guard policy.writes.contains(.memory) else { return }
        remember(cached, for: key, expiration: policy.memoryExpiration)
    }

    func remember(_ cached: CachedImage, for key: ImageKey, expiration: StorageExpiration?) {
        let place = key.place(of: cached.http)
        // The user's own entry would be found before the shared one.
        if place.user != key.user { memoryCache.remove(key) }
        memoryCache.insert(cached, for: place, cost: cached.image.cost, expiration: expiration)
        if place.processors.isEmpty { sizes.add(place) { memoryCache.contains($0) } }
    }

    /// The smallest image of the same source that has at least the pixels that were asked for.
    private func larger(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        var smallest: (key: ImageKey, cached: CachedImage)?
        for other in sizes.keys(of: key.source) where other.isSamePicture(as: key) {
            guard let cached = memoryCache.value(for: other, extending: .none),
                other.user == key.user || ImageKey.isForAll(cached.http)
            else { continue }
            let wanted = key.wantedSize(of: cached.image.info.size)
            guard cached.image.width >= wanted.width, cached.image.height >= wanted.height else { continue }
            if let best = smallest, best.cached.image.width <= cached.image.width { continue }
            smallest = (other, cached)
        }
        guard let smallest else { return nil }
        return memoryCache.value(for: smallest.key, extending: policy.memoryExtension) ?? smallest.cached
    }
}
