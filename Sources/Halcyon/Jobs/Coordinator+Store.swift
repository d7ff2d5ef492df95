import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonSystem

/// What goes to the caches once it is there.
extension Coordinator {
    /// Hands the source's bytes to the disk: to its staging area, or behind the writes that fill it. The image waits for
    /// neither, unless its request wants it to.
    ///
    /// - Returns: whether the disk has taken them.
    @discardableResult
    func storeOriginal(_ fetched: FetchedData, of image: Image?, _ resolved: ResolvedRequest) -> Bool {
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
        let writer = writer(to: disk, place, resolved)
        // What cannot be written is only not cached.
        return store(bytes: fetched.data.count + (shown?.cost ?? 0), in: cache, as: key, resolved) { isWanted in
            var writer = writer
            writer.isWanted = isWanted
            try? await writer.storeOriginal(fetched.data, of: shown, http: fetched.http)
        }
    }

    /// Hands the finished image to the disk, encoded behind.
    ///
    /// - Returns: whether the disk has taken it.
    func storeFinished(_ made: DecodedImage, _ resolved: ResolvedRequest) -> Bool {
        guard resolved.hasPlaceOfItsOwn, resolved.isRemote, let disk = resolved.target.disk else { return false }
        let place = resolved.key.place(of: made.http)
        let (cache, key) = (resolved.target, place.processedDiskKey)
        if place.user != resolved.key.user { forget(resolved.key.processedDiskKey, in: cache) }
        guard resolved.cache.writes.contains(.diskProcessed) else {
            // What was kept of an earlier answer is older than the source's bytes now.
            guard made.origin == .network, resolved.cache.writes.contains(.diskOriginal) else { return false }
            forget(key, in: cache)
            return false
        }
        let writer = writer(to: disk, place, resolved)
        return store(bytes: made.image.cost, in: cache, as: key, resolved) { isWanted in
            var writer = writer
            writer.isWanted = isWanted
            try? await writer.storeFinished(made.image, http: made.http)
        }
    }

    /// Returns once everything that was handed over so far is on the disk, or has failed to get there.
    func waitForStores(_ resolved: ResolvedRequest) async {
        await resolved.originals.stores.drain()
        if resolved.target !== resolved.originals { await resolved.target.stores.drain() }
        await resolved.originals.disk?.flush()
        if resolved.target !== resolved.originals { await resolved.target.disk?.flush() }
    }

    private func store(
        bytes: Int, in cache: ImageCache, as key: DiskKey, _ resolved: ResolvedRequest,
        _ work: @escaping StoreQueue.Work
    ) -> Bool {
        let isTaken = cache.stores.add(bytes: bytes, to: key, isForced: resolved.cache.waitsForStore, work)
        // No room: it is not cached, and what is there is older.
        if !isTaken { forget(key, in: cache) }
        return isTaken
    }

    private func forget(_ key: DiskKey, in cache: ImageCache) {
        cache.stores.add(bytes: 0, to: key, isForced: true) { _ in await cache.disk?.remove(key) }
    }

    private func writer(to disk: DiskCache, _ key: ImageKey, _ resolved: ResolvedRequest) -> DiskImageWriter {
        DiskImageWriter(
            disk: disk, key: key, url: resolved.source.url, coders: configuration.coders,
            serializer: resolved.serializer, expiration: resolved.cache.diskExpiration,
            ticket: WorkTicket(priority: .veryLow))
    }
}
