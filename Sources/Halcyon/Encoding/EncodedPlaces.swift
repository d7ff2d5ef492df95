import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// Where an encoding is kept, and how the disk was when its work began.
struct EncodedPlace: Sendable {
    let disk: DiskCache
    let key: DiskKey
    let sealKey: DiskKey
    /// What the source's encodings have in common until it is removed; a new one where there was none.
    var seal: String
    /// Whether the disk had the seal.
    var isSealed = false
    var removals: Int
    /// Whether it is everybody's, for a request of one user.
    let isForAll: Bool
}

extension EncodedPlace {
    /// Hands an encoded image to the disk, behind.
    ///
    /// - Returns: whether there was room for it.
    func store(_ kept: KeptEncoding, _ resolved: ResolvedRequest) -> Bool {
        guard !resolved.cache.writes.isDisjoint(with: .disk) else { return false }
        let (cache, source) = (resolved.target, resolved.key.source)
        let expiration = resolved.cache.diskExpiration
        let place = self
        return cache.stores.add(bytes: kept.data.count, to: place.key, isForced: resolved.cache.waitsForStore) {
            isNewest in
            let isWanted = { isNewest() && cache.removals.count(source) == place.removals }
            guard isWanted() else { return }
            let seal = await place.sealed()
            let entry = KeptEncoding(
                data: kept.data, mediaType: kept.mediaType, size: kept.size, seal: seal, sourceHash: kept.sourceHash,
                http: kept.http)
            await place.disk.stage(entry.data, metadata: entry.metadata, for: place.key, expiration: expiration)
            // It may have waited long for room.
            if !isWanted() {
                await place.disk.remove(place.key)
                await place.disk.remove(place.sealKey)
            }
        }
    }

    /// The source's seal on the disk, this place's where there is none. Of two that other processes make at the same time
    /// the later one counts, and what has the other is encoded once more.
    private func sealed() async -> String {
        let there = await disk.peek(sealKey).flatMap { String(data: $0.metadata, encoding: .utf8) }
        if let there { return there }
        // One that was there and has gone was removed: put back, it would bring back all that was encoded under it.
        let seal = isSealed ? UUID().uuidString : self.seal
        await disk.stage(Data(), metadata: Data(seal.utf8), for: sealKey, expiration: .never)
        return seal
    }

    /// Gives what is kept the age that a revalidation has brought; what is for one user now goes from everybody's place.
    func refresh(_ kept: KeptEncoding, http: HTTPCacheMetadata?, _ cache: CachePolicy) async {
        guard !cache.writes.isDisjoint(with: .disk) else { return }
        guard !isForAll || ImageKey.isForAll(http) else { return await disk.remove(key) }
        var fresh = kept
        fresh.http = http
        // A disk that cannot be written costs another revalidation, and nothing else.
        _ = try? await disk.updateMetadata(
            fresh.metadata, for: key, replacing: kept.metadata, expiration: cache.diskExpiration)
    }

    /// Every encoding of a source is older than what its server has now.
    ///
    /// - Returns: the place as it is then.
    func breakSeal(_ resolved: ResolvedRequest) async -> EncodedPlace {
        let (removals, source) = (resolved.target.removals, resolved.key.source)
        removals.mark(source)
        var renewed = self
        renewed.removals = removals.count(source)
        (renewed.seal, renewed.isSealed) = (removals.seal(after: renewed.removals), false)
        await disk.remove(sealKey)
        return renewed
    }
}

/// Where an encoding may be kept: what is found, or made, is for the request's user or for everybody.
struct EncodedPlaces: Sendable {
    private var own: EncodedPlace
    private var everybodys: EncodedPlace?

    private init(_ own: EncodedPlace, _ everybodys: EncodedPlace? = nil) {
        (self.own, self.everybodys) = (own, everybodys)
    }

    /// Where an encoding of this answer is kept.
    func place(of http: HTTPCacheMetadata?) -> EncodedPlace {
        http?.isShared == true ? everybodys ?? own : own
    }

    mutating func renew(_ place: EncodedPlace) {
        if place.isForAll { everybodys = place } else { own = place }
    }

    /// The places of an encoding, and what is in one of them; nil where the request uses no disk for it.
    static func find(
        _ resolved: ResolvedRequest, _ format: ImageFormat, _ options: EncodeOptions, ticket: WorkTicket
    ) async -> (places: EncodedPlaces, found: (place: EncodedPlace, kept: KeptEncoding)?)? {
        let policy = resolved.cache
        guard let disk = resolved.target.disk, resolved.key.isStorable,
            !policy.reads.union(policy.writes).isDisjoint(with: .disk)
        else { return nil }
        let (own, kept) = await look(of: resolved.key, in: disk, resolved, format, options, ticket: ticket)
        if let kept { return (EncodedPlaces(own), (own, kept)) }
        guard resolved.key.user != nil else { return (EncodedPlaces(own), nil) }
        let (shared, keptForAll) = await look(
            of: resolved.key.of(nil), in: disk, resolved, format, options, ticket: ticket)
        let places = EncodedPlaces(own, shared)
        guard let keptForAll, ImageKey.isForAll(keptForAll.http) else { return (places, nil) }
        return (places, (shared, keptForAll))
    }

    private static func look(
        of imageKey: ImageKey, in disk: DiskCache, _ resolved: ResolvedRequest, _ format: ImageFormat,
        _ options: EncodeOptions, ticket: WorkTicket
    ) async -> (place: EncodedPlace, kept: KeptEncoding?) {
        let policy = resolved.cache
        let removals = resolved.target.removals.count(resolved.key.source)
        let (key, sealKey) = (imageKey.encodedDiskKey(format, options), imageKey.encodedSealKey)
        let sealEntry = await disk.entry(for: sealKey, extending: nil, ticket: ticket)
        let seal = sealEntry.flatMap { String(data: $0.metadata, encoding: .utf8) }
        let place = EncodedPlace(
            disk: disk, key: key, sealKey: sealKey, seal: seal ?? resolved.target.removals.seal(after: removals),
            isSealed: seal != nil, removals: removals, isForAll: imageKey.user != resolved.key.user)
        guard seal != nil, !policy.reads.isDisjoint(with: .disk),
            let entry = await disk.entry(for: key, extending: policy.diskExtension, ticket: ticket),
            let kept = KeptEncoding(entry), kept.seal == seal
        else { return (place, nil) }
        return (place, kept)
    }
}
