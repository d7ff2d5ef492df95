import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// The place of an encoding on the disk, and the state of the disk when the work on the encoding began.
struct EncodedPlace: Sendable {
    let disk: DiskCache
    let key: DiskKey
    let sealKey: DiskKey
    /// The seal that all encodings of the source share until the source is removed; a new one if the disk had none.
    var seal: String
    /// Whether the seal was on the disk.
    var isSealed = false
    var removals: Int
    /// Whether it is the place for all users, in a request of one user.
    let isForAll: Bool
}

extension EncodedPlace {
    /// Queues an encoded image for the disk.
    ///
    /// - Returns: whether the queue had room for it.
    func store(_ answer: EncodedAnswer, _ resolved: ResolvedRequest) -> Bool {
        guard !resolved.cachePolicy.writes.isDisjoint(with: .disk) else { return false }
        let (cache, source) = (resolved.target, resolved.key.source)
        let expiration = resolved.cachePolicy.diskExpiration
        let place = self
        return cache.stores.add(bytes: answer.data.count, to: place.key, isForced: resolved.cachePolicy.waitsForStore) {
            isNewest in
            let isWanted = { isNewest() && cache.removals.count(source) == place.removals }
            guard isWanted() else { return }
            let seal = await place.sealed()
            let metadata = answer.metadata(seal: seal, http: answer.provenance.http)
            await place.disk.stage(answer.data, metadata: metadata, for: place.key, expiration: expiration)
            // The write may have waited long for room.
            if !isWanted() {
                await place.disk.remove(place.key)
                await place.disk.remove(place.sealKey)
            }
        }
    }

    /// Returns the source's seal on the disk, after storing this place's if there is none. If two processes store one
    /// at the same time the later one counts, and encodings under the other are made once more.
    private func sealed() async -> String {
        let there = await disk.peek(sealKey).flatMap { String(data: $0.metadata, encoding: .utf8) }
        if let there { return there }
        // A seal that was there and is gone was removed: storing it again would bring back everything that was encoded
        // under it.
        let seal = isSealed ? UUID().uuidString : self.seal
        await disk.stage(Data(), metadata: Data(seal.utf8), for: sealKey, expiration: .never)
        return seal
    }

    /// Updates the freshness of a stored encoding after a revalidation. An encoding that is for one user now is removed
    /// from the place for all users.
    func refresh(_ answer: EncodedAnswer, http: HTTPCacheMetadata?, _ cachePolicy: CachePolicy) async {
        guard !cachePolicy.writes.isDisjoint(with: .disk) else { return }
        guard !isForAll || ImageKey.isForAll(http) else { return await disk.remove(key) }
        // A disk that cannot be written costs another revalidation, and has no other effect.
        _ = try? await disk.updateMetadata(
            answer.metadata(seal: seal, http: http), for: key, replacing: answer.entry?.metadata,
            expiration: cachePolicy.diskExpiration)
    }

    /// Invalidates all encodings of a source, which are older than the bytes that its server has now.
    ///
    /// - Returns: the place in its new state.
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

/// The places in which an encoding may be kept: that of the request's user, and that of all users.
struct EncodedPlaces: Sendable {
    private var own: EncodedPlace
    private var everybodys: EncodedPlace?

    private init(_ own: EncodedPlace, _ everybodys: EncodedPlace? = nil) {
        (self.own, self.everybodys) = (own, everybodys)
    }

    /// Returns the place for an encoding that is made from a server's answer.
    func place(of http: HTTPCacheMetadata?) -> EncodedPlace {
        http?.isShared == true ? everybodys ?? own : own
    }

    mutating func renew(_ place: EncodedPlace) {
        if place.isForAll { everybodys = place } else { own = place }
    }

    /// Returns the places of an encoding, and the stored encoding in one of them; nil if the request does not use the
    /// disk for it.
    static func find(
        _ resolved: ResolvedRequest, _ format: ImageFormat, _ options: EncodeOptions, ticket: WorkTicket
    ) async -> (places: EncodedPlaces, found: (place: EncodedPlace, kept: EncodedAnswer)?)? {
        let policy = resolved.cachePolicy
        guard let disk = resolved.target.disk, resolved.key.isStorable,
            !policy.reads.union(policy.writes).isDisjoint(with: .disk)
        else { return nil }
        let (own, kept) = await look(of: resolved.key, in: disk, resolved, format, options, ticket: ticket)
        if let kept { return (EncodedPlaces(own), (own, kept)) }
        guard resolved.key.user != nil else { return (EncodedPlaces(own), nil) }
        let (shared, keptForAll) = await look(
            of: resolved.key.of(nil), in: disk, resolved, format, options, ticket: ticket)
        let places = EncodedPlaces(own, shared)
        guard let keptForAll, ImageKey.isForAll(keptForAll.provenance.http) else { return (places, nil) }
        return (places, (shared, keptForAll))
    }

    private static func look(
        of imageKey: ImageKey, in disk: DiskCache, _ resolved: ResolvedRequest, _ format: ImageFormat,
        _ options: EncodeOptions, ticket: WorkTicket
    ) async -> (place: EncodedPlace, kept: EncodedAnswer?) {
        let policy = resolved.cachePolicy
        let removals = resolved.target.removals.count(resolved.key.source)
        let (key, sealKey) = (imageKey.encodedDiskKey(format, options), imageKey.encodedSealKey)
        let sealEntry = await disk.entry(for: sealKey, extending: nil, ticket: ticket)
        let seal = sealEntry.flatMap { String(data: $0.metadata, encoding: .utf8) }
        let place = EncodedPlace(
            disk: disk, key: key, sealKey: sealKey, seal: seal ?? resolved.target.removals.seal(after: removals),
            isSealed: seal != nil, removals: removals, isForAll: imageKey.user != resolved.key.user)
        guard let seal, !policy.reads.isDisjoint(with: .disk),
            let entry = await disk.entry(for: key, extending: policy.diskExtension, ticket: ticket),
            let kept = EncodedAnswer(entry, at: key, seal: seal)
        else { return (place, nil) }
        return (place, kept)
    }
}
