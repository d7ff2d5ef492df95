import Foundation
import HalcyonCache
import HalcyonImage

/// Finished images in memory, bytes on disk.
public final class ImageCache: Sendable {
    /// Where an image is kept.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        case memory, disk
    }

    private let memoryCache: MemoryCache<ImageKey, CachedImage>
    /// Nil keeps nothing beyond the process.
    public let disk: DiskCache?
    /// - Parameters:
    ///   - memory: limits of the memory level; by default a quarter of what the system grants, at most 1 GiB.
    ///   - disk: the disk level; nil for none.
    ///   - clock: for the memory level's time to live; nil is the system's, read in the cheapest way.
    public init(
        memory: MemoryCacheConfiguration = MemoryCacheConfiguration(), disk: DiskCache?, clock: TimeSource? = nil
    ) {
        memoryCache = MemoryCache(configuration: memory, timeSource: clock)
        self.disk = disk
    }

    /// The image of a request in memory, whatever HTTP says of its age, in under a microsecond and on the caller's
    /// thread; nil when it is not there.
    public func image(inMemoryFor request: ImageRequest) -> Image? {
        image(for: ImageKey(request), policy: request.cache)?.image
    }

    /// Where the finished image of a request, or else its source's bytes, would be found; memory is asked first.
    public func cachedLevel(for request: ImageRequest) async -> Level? {
        let key = ImageKey(request)
        if memoryCache.contains(key) { return .memory }
        guard let disk else { return nil }
        if await disk.contains(key.processedDiskKey) { return .disk }
        return await disk.contains(key.originalDiskKey) ? .disk : nil
    }

    /// What the disk holds of a request's source: its bytes, what HTTP said of them, and until when it is kept. Looking
    /// is no access: it does not extend the entry's time.
    public func storedOriginal(for request: ImageRequest) async -> DiskEntry? {
        await disk?.peek(ImageKey(request).originalDiskKey)
    }

    /// Forgets a request's image in memory and its source's bytes on disk.
    public func remove(_ request: ImageRequest) async {
        await remove(ImageKey(request))
    }

    func remove(_ key: ImageKey) async {
        memoryCache.remove(key)
        await disk?.remove(key.processedDiskKey)
        await disk?.remove(key.originalDiskKey)
    }

    /// Forgets what is in memory; images in use stay as they are.
    public func clearMemory() {
        memoryCache.removeAll()
    }

    /// Removes every file of the disk level.
    public func clearDisk() async {
        await disk?.removeAll()
    }

    /// Bytes of pixels in memory, and how often they were asked for.
    public var memoryStatistics: MemoryCacheStatistics { memoryCache.statistics }

    /// Writes what waits and trims, within a time. A program calls it before it ends.
    ///
    /// - Returns: whether all was written in time.
    @discardableResult
    public func shutdown(within time: Duration = .seconds(2)) async -> Bool {
        await disk?.shutdown(within: time) ?? true
    }

    // MARK: - For the pipeline

    func image(for key: ImageKey, policy: CachePolicy) -> CachedImage? {
        policy.reads.contains(.memory) ? memoryCache.value(for: key) : nil
    }

    func remember(_ cached: CachedImage, for key: ImageKey, policy: CachePolicy) {
        guard policy.writes.contains(.memory) else { return }
        memoryCache.insert(cached, for: key, cost: cached.image.cost)
    }
}
