import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// The slot of an encoding on the disk, and the state of the disk when the work on the encoding began.
struct EncodedSlot: Sendable {
    let entries: CacheStoreChain
    let key: CacheKey
    let sealKey: CacheKey
    let formerSeals: FormerSeals
    /// The seal that all encodings of the source share until the source is removed; a new one if the disk had none.
    var seal: String
    /// Whether the seal was on the disk.
    var isSealed = false
    var removals: Int
    /// Whether it is the slot for all users, in a request of one user.
    let isForAll: Bool
    /// The claim of this process to make the encoding, which ends once it is stored or given up.
    var claim: CacheClaimToken?
}

extension EncodedSlot {
    /// Queues an encoded image for the disk.
    ///
    /// - Returns: whether the queue had room for it.
    func store(_ answer: EncodedAnswer, _ resolved: ResolvedRequest) -> Bool {
        guard !resolved.cachePolicy.writes.isDisjoint(with: .disk) else { return false }
        let (cache, source) = (resolved.target, resolved.key.source)
        let expiration = resolved.cachePolicy.diskExpiration
        let slot = self
        return cache.pendingStores.add(
            bytes: answer.data.count, to: slot.key, isForced: resolved.cachePolicy.waitsForStore
        ) {
            isNewest in
            let isWanted = { isNewest() && cache.removals.count(source) == slot.removals }
            guard isWanted() else { return }
            let seal = await slot.sealed()
            let metadata = answer.metadata(seal: seal, http: answer.provenance.http)
            await slot.entries.stage(
                answer.data, metadata: metadata, for: slot.key, expiration: expiration,
                reach: answer.provenance.http.reach, claim: slot.claim, isWanted: isWanted)
            // The write may have waited long for room.
            if !isWanted() { await slot.entries.remove([slot.key, slot.sealKey, slot.formerSeals.key]) }
        }
    }

    /// Returns the source's seal, after storing this slot's if there is none: that of the stores if there are any, else that of
    /// the disk. If two processes that cannot claim it store one at the same time the later one counts.
    private func sealed() async -> String {
        let here = await entries.disk?.peek(sealKey).flatMap(Self.seal)
        var claim = CacheClaim.alone
        defer { withExtendedLifetime(claim) {} }
        if entries.isShared(sealKey) {
            if let there = await sharedSeal(insteadOf: here) { return there }
            claim = await entries.claim(sealKey)
            if case .stored = claim, let there = await sharedSeal(insteadOf: here) { return there }
        }
        // Stores that grant no claim may be out of reach, and have the seal all the same.
        if case .alone = claim, let here { return here }
        // A seal that was there and is gone was removed: storing it again would bring back everything that was encoded
        // under it. Where machines share a store, any of them may have removed it.
        let isNew = isSealed || here != nil || entries.isShared(sealKey)
        let seal = isNew ? UUID().uuidString : self.seal
        if let here { await formerSeals.add(here) }
        await entries.stage(
            Data(), metadata: Data(seal.utf8), for: sealKey, expiration: .never, reach: .everywhere)
        // Other machines find no encoding before they find its seal.
        await entries.passes.wait(for: sealKey)
        return seal
    }

    /// Returns the seal that the stores have, which the disk has from then on in the place of its own.
    private func sharedSeal(insteadOf here: String?) async -> String? {
        let there = await entries.entry(for: sealKey, in: .stores, ticket: WorkTicket()).flatMap(Self.seal)
        if let here, let there, here != there { await formerSeals.add(here) }
        return there
    }

    fileprivate static func seal(_ entry: CacheEntry) -> String? { String(data: entry.metadata, encoding: .utf8) }

    /// Updates the freshness of a stored encoding after a revalidation. An encoding that is for one user now is removed
    /// from the slot for all users.
    func refresh(_ answer: EncodedAnswer, http: HTTPCacheMetadata?, _ cachePolicy: CachePolicy) async {
        guard !cachePolicy.writes.isDisjoint(with: .disk) else { return }
        guard !isForAll || ImageKey.isForAll(http) else { return await entries.forget(key) }
        await entries.updateMetadata(
            answer.metadata(seal: seal, http: http), for: key, replacing: answer.entry?.metadata,
            expiration: cachePolicy.diskExpiration, reach: http.reach)
    }

    /// Invalidates all encodings of a source, which are older than the bytes that its server has now.
    ///
    /// - Returns: the slot in its new state.
    func breakSeal(_ resolved: ResolvedRequest) async -> EncodedSlot {
        let (removals, source) = (resolved.target.removals, resolved.key.source)
        removals.mark(source)
        var renewed = self
        renewed.removals = removals.count(source)
        (renewed.seal, renewed.isSealed) = (removals.seal(after: renewed.removals), false)
        await entries.remove([sealKey, formerSeals.key])
        return renewed
    }
}

/// The slots in which an encoding may be kept: that of the request's user, and that of all users.
struct EncodedSlots: Sendable {
    private var own: EncodedSlot
    private var shared: EncodedSlot?

    private init(_ own: EncodedSlot, _ shared: EncodedSlot? = nil) {
        (self.own, self.shared) = (own, shared)
    }

    /// Returns the slot for an encoding that is made from a server's answer.
    func slot(of http: HTTPCacheMetadata?) -> EncodedSlot {
        http?.isShared == true ? shared ?? own : own
    }

    /// Asks for the right to make the encoding, where processes share a store.
    ///
    /// - Returns: whether another process has stored it meanwhile.
    mutating func isStoredByOthers() async -> Bool {
        switch await own.entries.claim(own.key) {
        case .granted(let token):
            own.claim = token
            return false
        case .stored: return true
        case .alone: return false
        }
    }

    mutating func renew(_ slot: EncodedSlot) {
        if slot.isForAll { shared = slot } else { own = slot }
    }

    /// Returns the slots of an encoding, and the stored encoding in one of them; nil if the request does not use the
    /// disk for it.
    static func find(
        _ resolved: ResolvedRequest, _ encoding: ImageEncoding, ticket: WorkTicket
    ) async -> (slots: EncodedSlots, found: (slot: EncodedSlot, kept: EncodedAnswer)?)? {
        let policy = resolved.cachePolicy
        guard let entries = resolved.target.entries, resolved.key.isStorable, resolved.mayUse(.diskProcessed),
            !policy.reads.union(policy.writes).isDisjoint(with: .disk)
        else { return nil }
        let (own, kept) = await look(of: resolved.key, in: entries, resolved, encoding, ticket: ticket)
        if let kept { return (EncodedSlots(own), (own, kept)) }
        guard resolved.key.user != nil else { return (EncodedSlots(own), nil) }
        let (shared, keptForAll) = await look(
            of: resolved.key.of(nil), in: entries, resolved, encoding, ticket: ticket)
        let slots = EncodedSlots(own, shared)
        guard let keptForAll, ImageKey.isForAll(keptForAll.provenance.http) else { return (slots, nil) }
        return (slots, (shared, keptForAll))
    }

    private static func look(
        of imageKey: ImageKey, in entries: CacheStoreChain, _ resolved: ResolvedRequest, _ encoding: ImageEncoding,
        ticket: WorkTicket
    ) async -> (slot: EncodedSlot, kept: EncodedAnswer?) {
        let policy = resolved.cachePolicy
        let removals = resolved.target.removals.count(resolved.key.source)
        let (key, sealKey) = (imageKey.encodedEntryKey(encoding), imageKey.encodedSealKey)
        let found =
            await policy.reads.isDisjoint(with: .disk)
            ? (entry: nil, seal: entries.entry(for: sealKey, ticket: ticket), isOfDisk: false)
            : entries.entry(for: key, under: sealKey, extending: policy.diskExtension, ticket: ticket)
        let seal = found.seal.flatMap(EncodedSlot.seal)
        var slot = EncodedSlot(
            entries: entries, key: key, sealKey: sealKey,
            formerSeals: FormerSeals(disk: entries.disk, imageKey: imageKey),
            seal: seal ?? resolved.target.removals.seal(after: removals),
            isSealed: seal != nil, removals: removals, isForAll: imageKey.user != resolved.key.user)
        guard let seal, let entry = found.entry else { return (slot, nil) }
        if let kept = EncodedAnswer(entry, at: key, seals: [seal]) { return (slot, kept) }
        guard entries.isShared(sealKey) else { return (slot, nil) }
        if found.isOfDisk, let kept = EncodedAnswer(entry, at: key, seals: await slot.formerSeals.all()) {
            return (slot, kept)
        }
        // Another process may have renewed the seal since: that of the stores counts.
        if let present = await entries.entry(for: sealKey, in: .stores, ticket: ticket).flatMap(EncodedSlot.seal),
            present != seal
        {
            await slot.formerSeals.add(seal)
            // A removal takes the former seals with it.
            if resolved.target.removals.count(resolved.key.source) != removals { await slot.formerSeals.remove() }
            slot.seal = present
            if let kept = EncodedAnswer(entry, at: key, seals: [present]) { return (slot, kept) }
        }
        // The copy of what does not count in the stores would count on the disk, if its seal is a former one of this machine.
        if !found.isOfDisk { await entries.disk?.remove(key) }
        return (slot, nil)
    }
}
