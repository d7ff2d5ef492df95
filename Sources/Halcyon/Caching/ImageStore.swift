import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonSystem

/// The disk writes of one request's load: they go through the cache's `StoreQueue`, behind the load.
struct ImageStore {
    private let resolved: ResolvedRequest

    init(_ resolved: ResolvedRequest) {
        self.resolved = resolved
    }

    /// Hands the source's bytes to the disk: to its staging area, or behind the writes that fill it. The image waits for
    /// neither, unless its request wants it to.
    ///
    /// - Returns: whether the disk has taken them.
    func storeOriginal(_ fetched: FetchedData, of image: Image?) -> Bool {
        guard resolved.cache.writes.contains(.diskOriginal), fetched.mayBeKept,
            !fetched.isOutdated(in: .diskOriginal), let disk = resolved.originals.disk, fetched.claimStore()
        else { return false }
        let place = resolved.key.place(of: fetched.http)
        let (cache, key) = (resolved.originals, place.originalDiskKey)
        // The user's own entry would be found before the shared one.
        if place.user != resolved.key.user { forget(resolved.key.originalDiskKey, in: cache) }
        if resolved.serializer is DefaultCacheSerializer, !resolved.cache.waitsForStore, !cache.stores.isPending(key) {
            // The bytes as they are: most often there is room for them at once.
            let isStaged = disk.stageIfRoom(
                fetched.data, metadata: fetched.http?.encoded() ?? Data(), for: key,
                expiration: resolved.cache.diskExpiration)
            if isStaged { return true }
        }
        let shown = resolved.key.showsAllOfItsSource ? image : nil
        let writer = writer(to: disk, place)
        // An entry that cannot be written is only not cached.
        return store(bytes: fetched.data.count + (shown?.cost ?? 0), in: cache, as: key) { isWanted in
            var writer = writer
            writer.isWanted = isWanted
            try? await writer.storeOriginal(fetched.data, of: shown, http: fetched.http)
        }
    }

    /// Hands the finished image to the disk, encoded behind.
    ///
    /// - Returns: whether the disk has taken it.
    func storeFinished(_ made: LoadedImage) -> Bool {
        guard resolved.hasPlaceOfItsOwn, resolved.isRemote, let disk = resolved.target.disk else { return false }
        let place = resolved.key.place(of: made.provenance.http)
        let (cache, key) = (resolved.target, place.processedDiskKey)
        if place.user != resolved.key.user { forget(resolved.key.processedDiskKey, in: cache) }
        guard resolved.cache.writes.contains(.diskProcessed) else {
            // The entry of an earlier answer is older than the source's bytes now.
            guard made.provenance.origin == .network, resolved.cache.writes.contains(.diskOriginal) else {
                return false
            }
            forget(key, in: cache)
            return false
        }
        let writer = writer(to: disk, place)
        return store(bytes: made.image.cost, in: cache, as: key) { isWanted in
            var writer = writer
            writer.isWanted = isWanted
            try? await writer.storeFinished(made.image, http: made.provenance.http)
        }
    }

    /// Removes bytes that are not an image, from the user's own place and everybody's.
    func removeOriginal() async {
        let (disk, key) = (resolved.originals.disk, resolved.key)
        await disk?.remove(key.originalDiskKey)
        if key.user != nil { await disk?.remove(key.of(nil).originalDiskKey) }
    }

    /// Returns once everything that was handed over so far is on the disk, or has failed to get there.
    func drain() async {
        let caches = resolved.target === resolved.originals ? [resolved.target] : [resolved.originals, resolved.target]
        for cache in caches { await cache.stores.drain() }
        for cache in caches { await cache.disk?.flush() }
    }

    private func store(bytes: Int, in cache: ImageCache, as key: DiskKey, _ work: @escaping StoreQueue.Work) -> Bool {
        let isTaken = cache.stores.add(bytes: bytes, to: key, isForced: resolved.cache.waitsForStore, work)
        // Without room it is not cached, and the entry that is there is older.
        if !isTaken { forget(key, in: cache) }
        return isTaken
    }

    private func forget(_ key: DiskKey, in cache: ImageCache) {
        cache.stores.add(bytes: 0, to: key, isForced: true) { _ in await cache.disk?.remove(key) }
    }

    private func writer(to disk: DiskCache, _ key: ImageKey) -> DiskImageWriter {
        DiskImageWriter(
            disk: disk, key: key, url: resolved.source.url, coders: resolved.coordinator.configuration.coders,
            serializer: resolved.serializer, expiration: resolved.cache.diskExpiration,
            ticket: WorkTicket(priority: .veryLow))
    }
}
