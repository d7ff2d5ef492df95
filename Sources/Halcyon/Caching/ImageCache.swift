import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// A cache of finished images in memory and of bytes on disk.
///
/// Images are looked up by URL, by a string, by a request with its processors, or by an `ImageKey`. All members may be called
/// from any thread; only those named for memory return without waiting.
public final class ImageCache: Sendable {
    let memoryCache: MemoryCache<ImageKey, CachedImage>
    let sizes = SizeIndex()
    /// The stores of pipelines that have not reached the disk yet, limited to the number of bytes that the disk itself may
    /// stage.
    let pendingStores: StoreQueue
    let removals = RemovalCounters()
    let changes = SourceChanges()
    /// The subscription to memory pressure, kept for the cache's lifetime.
    private let pressure: MemoryPressureSubscription?
    /// The disk of the disk level; nil for none.
    public let disk: DiskCache?
    /// The stores behind the disk, which other processes may share; see `CacheStore`.
    public let stores: [any CacheStore]
    /// The disk level: the disk and the stores; nil keeps nothing beyond the process.
    let entries: CacheStoreChain?
    /// The coders that decode entries on disk when the cache itself is asked; a pipeline uses its own.
    public let coders: CoderRegistry
    /// The serializer that decides which bytes the disk keeps of an image, unless a request has its own.
    public let serializer: any CacheSerializer
    /// The filter that makes the key of a URL; nil uses the URL without its fragment.
    public let keyFilter: CacheKeyFilter?

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memory: the limits of the memory level; by default a quarter of the memory that the system grants, at most 1 GiB.
    ///   - disk: the disk; nil for none.
    ///   - stores: the stores behind the disk, in the order in which they are asked, or in the place of one; none by default.
    ///     They belong to the disk level: whatever it says of the disk, such as a policy or a removal, includes them.
    ///   - coders: the coders for the cache's own look-ups and stores; the shared registry by default.
    ///   - serializer: the serializer for requests without one of their own; `.default` by default.
    ///   - keyFilter: the filter that makes the keys of URLs; nil by default.
    ///   - clock: the clock of the memory level's time to live; nil is the system's, read in the cheapest way.
    ///   - memoryPressure: the source of memory pressure events, which trim memory to a half, to a tenth, or to nothing. Images
    ///     in use elsewhere are still found after that. By default the kernel's events and the limit of the control group; nil
    ///     never trims.
    public init(
        memory: MemoryCacheConfiguration = MemoryCacheConfiguration(), disk: DiskCache?,
        stores: [any CacheStore] = [], coders: CoderRegistry = .shared, serializer: any CacheSerializer = .default,
        keyFilter: CacheKeyFilter? = nil, clock: TimeSource? = nil,
        memoryPressure: (any MemoryPressureSource)? = SystemMemoryPressure.shared
    ) {
        let memoryCache = MemoryCache<ImageKey, CachedImage>(
            configuration: memory, timeSource: clock, weakly: CachedImage.weakReference)
        self.memoryCache = memoryCache
        pressure = memoryPressure?.subscribe { [weak memoryCache] in memoryCache?.relieve($0) }
        (self.disk, self.stores) = (disk, stores)
        entries = CacheStoreChain(disk: disk, stores: stores)
        pendingStores = StoreQueue(limit: (disk?.configuration ?? DiskCache.Configuration()).stagingLimit)
        self.coders = coders
        self.serializer = serializer
        self.keyFilter = keyFilter
    }

    /// Returns the key of an image in the cache. A request's key includes the user that its own credential and header fields
    /// identify; `ImagePipeline.key(for:)` adds those that the pipeline's downloader sends.
    public func key<Item: ImageKeyConvertible>(for item: Item) -> ImageKey {
        Item.imageKey(of: item, filter: keyFilter)
    }

    /// Returns the policy of a look-up.
    func policy<Item: ImageKeyConvertible>(of item: Item) -> CachePolicy { Item.cachePolicy(of: item) }

    // MARK: - Memory

    /// The limits of the memory level: bytes of pixels, numbers and times. A change takes effect at once: images above a lower
    /// limit are evicted, and images in use elsewhere are still found after that.
    ///
    /// If several threads set limits, the last one wins. The limits of the disk are properties of `disk`.
    public var memoryConfiguration: MemoryCacheConfiguration {
        get { memoryCache.configuration }
        set { memoryCache.configuration = newValue }
    }

    /// Returns the image in memory, whatever its HTTP age, in under a microsecond and on the caller's thread; nil if it is not
    /// there. The policy of a request may forbid the look-up, or accept a larger image.
    public func image(inMemoryFor item: some ImageKeyConvertible) -> Image? {
        let policy = policy(of: item)
        if let cached = image(for: key(for: item), policy: policy) { return cached.image }
        countMiss(policy)
        return nil
    }

    /// Evicts the least recently used images until the rest costs this fraction of the former total. Images in use elsewhere
    /// are still found.
    public func trimMemory(toFraction fraction: Double) {
        memoryCache.trim(toFraction: fraction)
    }

    /// Removes all images from memory. Images in use stay valid, but are not found any more.
    public func clearMemory() {
        memoryCache.removeAll()
        sizes.removeAll()
    }

    /// The statistics of the memory level: bytes of pixels, hits and misses.
    public var memoryStatistics: MemoryCacheStatistics { memoryCache.statistics }

    // MARK: - Shutdown

    /// Encodes and writes pending entries, trims the disk and removes what has expired there, within a time limit. Call it
    /// before the program ends.
    ///
    /// - Returns: whether everything was written in time.
    @discardableResult
    public func shutdown(within time: Duration = .seconds(2)) async -> Bool {
        let deadline = ContinuousClock.now + time.forTimer
        let isDrained = await drain(pendingStores, until: deadline)
        // The disk does not wait for the stores behind it.
        async let isPassed = drain(entries?.passes, until: deadline)
        let isWritten = await disk?.shutdown(within: max(.zero, deadline - ContinuousClock.now)) ?? true
        return await isPassed && isDrained && isWritten
    }

    /// Waits for the stores of a queue.
    ///
    /// - Returns: whether they have ended in time.
    private func drain(_ queue: StoreQueue?, until deadline: ContinuousClock.Instant) async -> Bool {
        guard let queue else { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await queue.drain()
                return !Task.isCancelled
            }
            group.addTask {
                try? await Task.sleep(until: deadline)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    // MARK: - For the pipeline

    /// Counts the miss of a load in memory. The look-ups for it do not: one load makes several, for several keys.
    func countMiss(_ policy: CachePolicy) {
        if policy.reads.contains(.memory) { memoryCache.countMiss() }
    }

    func image(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        guard policy.reads.contains(.memory) else { return nil }
        if let cached = keptImage(for: key, policy: policy) { return cached }
        return policy.acceptsLarger && key.admitsLarger ? larger(for: key, policy: policy) : nil
    }

    /// Removes the image before any processor from memory, unless the policy has just stored it there.
    func forgetUnprocessed(_ key: ImageKey, policy: CachePolicy) {
        if !policy.writes.contains(.memoryOriginal) { forget(key.unprocessed) }
    }

    /// Removes the image of exactly this key from memory.
    func forgetExactly(_ key: ImageKey) { memoryCache.remove(key) }

    /// Removes a key's image from memory, with and without a gain map, and the shared one as well.
    func forget(_ key: ImageKey) {
        for key in key.withAndWithoutGainMap {
            memoryCache.remove(key)
            if key.user != nil { memoryCache.remove(key.of(nil)) }
        }
    }

    /// Returns the image of exactly this key: its user's own, or else the shared one; also one that was made without asking for a gain
    /// map, of a source that has none.
    func keptImage(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        if let cached = ownOrShared(key, policy: policy) { return cached }
        guard key.decode.decodesGainMap, let cached = ownOrShared(key.withGainMap(false), policy: policy),
            !cached.image.info.hasReadableGainMap
        else { return nil }
        return cached
    }

    private func ownOrShared(_ key: ImageKey, policy: CachePolicy) -> CachedImage? {
        if let cached = value(for: key, policy.memoryExtension) { return cached }
        guard key.user != nil, let cached = value(for: key.of(nil), policy.memoryExtension),
            ImageKey.isForAll(cached.http)
        else { return nil }
        return cached
    }

    private func value(for key: ImageKey, _ extending: ExpirationExtension) -> CachedImage? {
        memoryCache.value(for: key, extending: extending, countsMiss: false)
    }

    func remember(_ cached: CachedImage, for key: ImageKey, policy: CachePolicy) {
        guard policy.writes.contains(.memory) else { return }
        remember(cached, for: key, expiration: policy.memoryExpiration)
    }

    func remember(_ cached: CachedImage, for key: ImageKey, expiration: StorageExpiration?) {
        guard !cached.image.info.isPreview else { return }
        let stored = key.storageKey(for: cached.http, cached.image.info)
        // The user's own entry, and one with a gain map, would be found before.
        if stored != key { memoryCache.remove(key) }
        if stored.decode.decodesGainMap { forgetWithoutGainMap(stored) }
        memoryCache.insert(cached, for: stored, cost: cached.image.cost, expiration: expiration)
        sizes.add(stored) { memoryCache.contains($0) }
    }

    /// Removes the image that was stored while the source had no gain map.
    private func forgetWithoutGainMap(_ key: ImageKey) {
        let plain = key.withGainMap(false)
        guard let former = value(for: plain, .none), !former.image.info.hasReadableGainMap else { return }
        memoryCache.remove(plain)
    }

    /// Returns the smallest image of the same source that has at least the requested pixels.
    private func larger(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        var smallest: (key: ImageKey, cached: CachedImage)?
        for other in sizes.keys(of: key.source, in: memoryCache) where other.isSamePicture(as: key) {
            guard let cached = value(for: other, .none),
                other.user == key.user || ImageKey.isForAll(cached.http)
            else { continue }
            let wanted = key.wantedSize(of: cached.image.info.size)
            guard cached.image.width >= wanted.width, cached.image.height >= wanted.height else { continue }
            if let best = smallest, best.cached.image.width <= cached.image.width { continue }
            smallest = (other, cached)
        }
        guard let smallest else { return nil }
        return value(for: smallest.key, policy.memoryExtension) ?? smallest.cached
    }
}

extension ImageCache {
    /// Trims the memory level as an event of the cache's own `memoryPressure` does.
    package func relieveMemory(_ pressure: MemoryPressure) {
        memoryCache.relieve(pressure)
    }
}

/// An entry of the memory cache. It is a class so that a look-up copies one reference and not every property of the image.
///
/// `@unchecked Sendable` because of `pixels`, which does nothing but name the image's own bitmap.
final class CachedImage: @unchecked Sendable {
    let image: Image
    /// The length in bytes of the encoded image that it was made of.
    let encodedBytes: Int
    /// The HTTP metadata of the encoded image; nil for a file or data.
    let http: HTTPCacheMetadata?
    /// The image's bitmap, without a share in it: reading `image.bitmap` makes one, which would count as another owner.
    private let pixels: Unmanaged<Bitmap>

    init(image: Image, encodedBytes: Int, http: HTTPCacheMetadata?) {
        self.image = image
        self.encodedBytes = encodedBytes
        self.http = http
        pixels = .passUnretained(image.bitmap)
    }

    /// Whether nothing but this entry keeps the pixels alive.
    private var isSoleOwner: Bool {
        var pixels = pixels
        return withUnsafeMutablePointer(to: &pixels) {
            $0.withMemoryRebound(to: Bitmap.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }

    /// Returns a weak reference, which the memory cache keeps after it has evicted the entry; nil if nothing else keeps the
    /// pixels alive, or if the image cannot be held weakly.
    static func weakReference(_ cached: inout CachedImage) -> WeakValue<CachedImage>? {
        if isKnownUniquelyReferenced(&cached), cached.isSoleOwner { return nil }
        guard let make = cached.image.makeOfPixels else { return nil }
        return WeakValue(cached.image.bitmap) { [encodedBytes = cached.encodedBytes, http = cached.http] bitmap in
            make(bitmap).map { CachedImage(image: $0, encodedBytes: encodedBytes, http: http) }
        }
    }
}
