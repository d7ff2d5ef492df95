import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// The disk writes of one request's load. They go through the cache's `StoreQueue`, after the load.
struct ImageStore {
    private let resolved: ResolvedRequest

    init(_ resolved: ResolvedRequest) {
        self.resolved = resolved
    }

    /// Stores the source's bytes: in the disk's staging area, or in the queue if that is full. The image waits for neither,
    /// unless its request asks for it.
    ///
    /// - Returns: whether the disk or the queue has accepted them.
    func storeOriginal(_ fetched: FetchedData, of image: Image?) -> Bool {
        guard resolved.cachePolicy.writes.contains(.diskOriginal), resolved.mayUse(.diskOriginal),
            fetched.provenance.mayBeKept, !fetched.isOutdated(in: .diskOriginal),
            let entries = resolved.originals.entries,
            fetched.claimStore()
        else { return false }
        let http = fetched.provenance.http
        let stored = resolved.key.storageKey(for: http)
        let (cache, key) = (resolved.originals, stored.originalEntryKey)
        // The user's own entry would be found before the shared one.
        if stored.user != resolved.key.user { forget(resolved.key.originalEntryKey, in: cache) }
        if fetched.made == nil, resolved.serializer is DefaultCacheSerializer, !resolved.cachePolicy.waitsForStore,
            !cache.pendingStores.isPending(key)
        {
            // The bytes are stored unchanged; usually the staging area has room for them at once.
            let isStaged = entries.stageIfRoom(
                fetched.data, metadata: http?.encoded() ?? Data(), for: key,
                expiration: resolved.cachePolicy.diskExpiration, reach: http.reach, claim: fetched.claim)
            if isStaged { return true }
        }
        let shown = fetched.made?.image ?? (resolved.key.showsAllOfItsSource ? image : nil)
        let bytes = fetched.bytes
        var writer = writer(to: entries, stored)
        writer.claim = fetched.claim
        // A write that fails only means that the entry is not cached.
        return store(bytes: fetched.data.count + (shown?.cost ?? 0), in: cache, as: key) { [writer] isWanted in
            var writer = writer
            writer.isWanted = isWanted
            try? await writer.storeOriginal(bytes, of: shown, http: http)
        }
    }

    /// Stores the finished image, which is encoded in the background.
    ///
    /// - Returns: whether the queue has accepted it.
    func storeFinished(_ made: LoadedImage) -> Bool {
        guard resolved.hasEntryOfItsOwn, resolved.mayUse(.diskProcessed), let entries = resolved.target.entries else {
            return false
        }
        let stored = resolved.key.storageKey(for: made.provenance.http, made.image.info)
        let (cache, key) = (resolved.target, stored.processedEntryKey)
        // An entry that would be found before this one, or in its place, is of an earlier state of the source.
        if stored != resolved.key { forget(resolved.key.processedEntryKey, in: cache) }
        if stored.decode.decodesGainMap, made.image.info.hasReadableGainMap {
            forgetWithoutGainMap(stored.withGainMap(false).processedEntryKey, in: cache)
        }
        guard resolved.cachePolicy.writes.contains(.diskProcessed) else {
            // The stored entry belongs to an earlier response and is older than the source's bytes now. A provider's is as good
            // as new, unless the request bypasses it.
            let (origin, policy) = (made.provenance.origin, resolved.cachePolicy)
            let isNewer = origin == .network || origin == .provider && !policy.reads.contains(.diskProcessed)
            guard isNewer, policy.writes.contains(.diskOriginal) else { return false }
            forget(key, in: cache)
            return false
        }
        let writer = writer(to: entries, stored)
        return store(bytes: made.image.cost, in: cache, as: key) { isWanted in
            var writer = writer
            writer.isWanted = isWanted
            try? await writer.storeFinished(made.image, http: made.provenance.http)
        }
    }

    /// Removes the source's bytes, which are not an image, from the user's own entry and the shared one.
    func removeOriginal() async {
        let (entries, key) = (resolved.originals.entries, resolved.key)
        await entries?.forget(key.originalEntryKey)
        if key.user != nil { await entries?.forget(key.of(nil).originalEntryKey) }
    }

    /// Waits until everything that was stored so far is on the disk, or in the stores that are in its place, or has failed to get
    /// there.
    func drain() async {
        let caches = resolved.target === resolved.originals ? [resolved.target] : [resolved.originals, resolved.target]
        for cache in caches { await cache.pendingStores.drain() }
        for cache in caches {
            if let disk = cache.disk { await disk.flush() } else { await cache.entries?.passes.drain() }
        }
    }

    private func store(bytes: Int, in cache: ImageCache, as key: CacheKey, _ work: @escaping StoreQueue.Work) -> Bool {
        let isTaken = cache.pendingStores.add(bytes: bytes, to: key, isForced: resolved.cachePolicy.waitsForStore, work)
        // Without room the entry is not cached, and the stored one is older.
        if !isTaken { forget(key, in: cache) }
        return isTaken
    }

    /// Removes the image that was made with a gain map if this one was made without, and the other way round.
    func forgetOther(_ made: LoadedImage) {
        let stored = resolved.key.storageKey(for: made.provenance.http, made.image.info)
        let other = stored.withGainMap(!stored.decode.decodesGainMap)
        resolved.target.forgetExactly(other)
        if other.isProcessed { forget(other.processedEntryKey, in: resolved.target) }
    }

    /// Removes the image that was stored while the source had no gain map.
    private func forgetWithoutGainMap(_ key: CacheKey, in cache: ImageCache) {
        cache.pendingStores.add(bytes: 0, to: key, isForced: true) { _ in
            if await cache.entries?.peek(key)?.hasNoGainMap == true { await cache.entries?.forget(key) }
        }
    }

    private func forget(_ key: CacheKey, in cache: ImageCache) {
        cache.pendingStores.add(bytes: 0, to: key, isForced: true) { _ in await cache.entries?.forget(key) }
    }

    private func writer(to entries: CacheStoreChain, _ key: ImageKey) -> DiskImageWriter {
        DiskImageWriter(
            entries: entries, key: key, url: resolved.source.url, coders: resolved.coordinator.configuration.coders,
            serializer: resolved.serializer, expiration: resolved.cachePolicy.diskExpiration,
            threads: resolved.coordinator.threads, ticket: WorkTicket(priority: .veryLow))
    }
}

extension HTTPCacheMetadata? {
    /// The places that may have an entry of the response: a `private` one stays on the disk, as in the cache of a browser.
    var reach: CacheStoreChain.Reach { self?.isPrivate == true ? .disk : .everywhere }
}
