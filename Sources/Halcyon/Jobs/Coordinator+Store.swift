import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonSystem

/// What goes to the caches once it is there.
extension Coordinator {
    /// Hands the source's bytes to the disk: to its staging area, or behind the writes that fill it. The image waits for
    /// neither, unless its request wants it to.
    func storeOriginal(_ fetched: FetchedData, of image: Image, _ resolved: ResolvedRequest) async {
        guard resolved.cache.writes.contains(.diskOriginal), fetched.mayBeKept,
            let disk = resolved.originals.disk, fetched.claimStore()
        else { return }
        if resolved.serializer is DefaultCacheSerializer, !resolved.cache.waitsForStore {
            // The bytes as they are: most often there is room for them at once.
            let isStaged = disk.stageIfRoom(
                fetched.data, metadata: fetched.http?.encoded() ?? Data(), for: resolved.key.originalDiskKey,
                expiration: resolved.cache.diskExpiration)
            if isStaged { return }
        }
        let shown = resolved.key.showsAllOfItsSource ? image : nil
        let writer = writer(to: disk, resolved)
        // What cannot be written is only not cached.
        await store(bytes: fetched.data.count + (shown?.cost ?? 0), resolved) {
            try? await writer.storeOriginal(fetched.data, of: shown, http: fetched.http)
        }
    }

    /// Hands the finished image to the disk, encoded behind.
    func storeFinished(_ made: DecodedImage, _ resolved: ResolvedRequest) async {
        guard resolved.cache.writes.contains(.diskProcessed), resolved.hasPlaceOfItsOwn, resolved.isRemote,
            let disk = resolved.target.disk
        else { return }
        let writer = writer(to: disk, resolved)
        let http = made.fetched?.http
        await store(bytes: made.image.cost, resolved) { try? await writer.storeFinished(made.image, http: http) }
    }

    /// Returns once everything that was handed over so far is on the disk, or has failed to get there.
    func waitForStores(_ resolved: ResolvedRequest) async {
        await stores.drain()
        await resolved.originals.disk?.flush()
        if resolved.target !== resolved.originals { await resolved.target.disk?.flush() }
    }

    private func store(
        bytes: Int, _ resolved: ResolvedRequest, _ work: @escaping @Sendable () async -> Void
    ) async {
        if resolved.cache.waitsForStore { await work() } else { stores.add(bytes: bytes, work) }
    }

    private func writer(to disk: DiskCache, _ resolved: ResolvedRequest) -> DiskImageWriter {
        DiskImageWriter(
            disk: disk, key: resolved.key, url: resolved.source.url, coders: configuration.coders,
            serializer: resolved.serializer, expiration: resolved.cache.diskExpiration,
            ticket: WorkTicket(priority: .veryLow))
    }
}
