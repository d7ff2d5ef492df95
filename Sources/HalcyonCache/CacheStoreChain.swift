import Foundation
import HalcyonSystem

/// The disk of an image cache and the stores behind it, as one: looked through in their order, written and removed from
/// together.
///
/// An entry that a store has is copied to the disk, so that the next look-up finds it there. The disk is waited for; entries and
/// removals reach the stores behind the caller, in their order for each key, so that a store that is slow delays neither a load nor
/// a write to the disk. The entries of one user, and those of files, are on the disk alone.
package final class CacheStoreChain: Sendable {
    package let disk: DiskCache?
    package let stores: [any CacheStore]
    /// The entries and removals on their way to the stores, limited to the number of bytes that the disk itself may stage.
    package let passes: StoreQueue
    /// The look-ups in the stores that are under way. One that a write or a removal of its key overtakes returns an entry that
    /// must not be copied any more.
    private let lookUps = Lock<[CacheKey: LookUps]>([:])

    /// The places that may have an entry.
    package enum Reach: Sendable {
        /// The disk alone: the entry is of a response that caches of several users must not keep (RFC 9111, 5.2.2.7).
        case disk
        /// The disk and the stores, unless the key is one user's or a file's.
        case everywhere
    }

    /// A place to look through.
    package enum Place: Sendable {
        case disk, stores, everywhere
    }

    /// The look-ups and the changes of one key.
    private struct LookUps {
        var count = 0
        /// The number of changes that are under way.
        var open = 0
        /// The number of changes that have begun or ended since the first of either.
        var changes = 0
    }

    /// A write or a removal that is under way, until its last reference goes: what a look-up finds in a store meanwhile may be
    /// what it replaces or removes.
    private final class Change: Sendable {
        private let chain: CacheStoreChain
        private let key: CacheKey

        init(_ chain: CacheStoreChain, _ key: CacheKey) {
            (self.chain, self.key) = (chain, key)
            chain.count(key) { $0.open += 1 }
        }

        deinit { chain.count(key) { $0.open -= 1 } }
    }

    /// Begins a change of a key's entry, which ends with the last reference to it; nil if no store has such entries.
    private func change(_ key: CacheKey) -> Change? { isShared(key) ? Change(self, key) : nil }

    private func count(_ key: CacheKey, _ change: (inout LookUps) -> Void) {
        lookUps.withLock { lookUps in
            change(&lookUps[key, default: LookUps()])
            lookUps[key]?.changes += 1
            if let state = lookUps[key], state.count == 0, state.open == 0 { lookUps[key] = nil }
        }
    }

    /// Creates a chain.
    ///
    /// - Returns: nil if there is neither a disk nor a store.
    package init?(disk: DiskCache?, stores: [any CacheStore]) {
        guard disk != nil || !stores.isEmpty else { return nil }
        (self.disk, self.stores) = (disk, stores)
        passes = StoreQueue(limit: (disk?.configuration ?? DiskCache.Configuration()).stagingLimit)
    }

    private func stores(for key: CacheKey) -> [any CacheStore] { key.isShareable ? stores : [] }

    // MARK: - Reading

    /// Returns the entry for a key, from the disk or else from the first store that has it, which is then copied to the disk; nil
    /// also if the ticket or the task is cancelled.
    package func entry(
        for key: CacheKey, in place: Place = .everywhere, extending: ExpirationExtension? = nil, ticket: WorkTicket
    ) async -> CacheEntry? {
        if place != .stores, let entry = await disk?.entry(for: key, extending: extending, ticket: ticket) {
            return entry
        }
        return place == .disk ? nil : await sharedEntry(for: key, ticket: ticket)
    }

    /// Returns the entry for a key, and the one under which it counts. If the disk lacks the latter, the stores are asked for both
    /// at once.
    ///
    /// - Parameter extending: the effect of the access on the expiration of the first.
    /// - Returns: also whether the disk had the entry.
    package func entry(
        for key: CacheKey, under sealKey: CacheKey, extending: ExpirationExtension?, ticket: WorkTicket
    ) async -> (entry: CacheEntry?, seal: CacheEntry?, isOfDisk: Bool) {
        var seal = await disk?.entry(for: sealKey, ticket: ticket)
        if seal == nil {
            let shared = await sharedEntries(for: [sealKey, key], ticket: ticket)
            seal = shared[0]
            if seal == nil || shared[1] != nil { return (seal == nil ? nil : shared[1], seal, false) }
            return (await disk?.entry(for: key, extending: extending, ticket: ticket), seal, true)
        }
        if let entry = await disk?.entry(for: key, extending: extending, ticket: ticket) { return (entry, seal, true) }
        return (await sharedEntry(for: key, ticket: ticket), seal, false)
    }

    private func sharedEntry(for key: CacheKey, ticket: WorkTicket) async -> CacheEntry? {
        await sharedEntries(for: [key], ticket: ticket)[0]
    }

    /// Returns the entries for keys of one source from the stores, which are asked in their order for what is still missing.
    private func sharedEntries(for keys: [CacheKey], ticket: WorkTicket) async -> [CacheEntry?] {
        var found = [CacheEntry?](repeating: nil, count: keys.count)
        guard !stores.isEmpty, keys.allSatisfy(\.isShareable) else { return found }
        let changes = keys.map(begin)
        for store in stores where !ticket.isCancelled && !Task.isCancelled {
            let missing = keys.indices.filter { found[$0] == nil }
            guard !missing.isEmpty else { break }
            for (index, entry) in zip(missing, await store.entries(for: missing.map { keys[$0] })) {
                found[index] = entry
            }
        }
        for index in keys.indices { end(keys[index], changes: changes[index], found[index]) }
        return found
    }

    /// Returns the entry for a key without changing its last access or its expiration.
    package func peek(_ key: CacheKey, ticket: WorkTicket = WorkTicket()) async -> CacheEntry? {
        if let entry = await disk?.peek(key, ticket: ticket) { return entry }
        for store in stores(for: key) {
            if let entry = await store.entry(for: key) { return entry }
        }
        return nil
    }

    /// Returns whether there is an entry, without its bytes.
    package func contains(_ key: CacheKey) async -> Bool {
        if await disk?.contains(key) == true { return true }
        for store in stores(for: key) where await store.contains(key) { return true }
        return false
    }

    private func begin(_ key: CacheKey) -> Int {
        lookUps.withLock { lookUps in
            lookUps[key, default: LookUps()].count += 1
            return lookUps[key]?.changes ?? 0
        }
    }

    /// Ends a look-up, and stages what it has found on the disk if nothing has overtaken it.
    private func end(_ key: CacheKey, changes: Int, _ found: CacheEntry?) {
        lookUps.withLock { lookUps in
            guard var state = lookUps[key] else { return }
            // Under the lock: a removal that comes now finds the staged copy.
            if let found, let disk, state.open == 0, state.changes == changes {
                disk.stageIfRoom(
                    found.data, metadata: found.metadata, extended: found.extended, for: key,
                    expiration: found.keptUntil.map { .date($0) })
            }
            state.count -= 1
            lookUps[key] = state.count == 0 && state.open == 0 ? nil : state
        }
    }

    // MARK: - Writing

    /// Stages an entry on the disk, if there is room for it now, and hands it to the stores behind the caller.
    ///
    /// - Parameter claim: the claim to make the entry, which ends once the stores have it.
    /// - Returns: whether the entry was staged.
    package func stageIfRoom(
        _ data: Data, metadata: Data, for key: CacheKey, expiration: StorageExpiration?, reach: Reach,
        claim: CacheClaimToken?
    ) -> Bool {
        let change = change(key)
        guard disk?.stageIfRoom(data, metadata: metadata, for: key, expiration: expiration) == true else {
            return false
        }
        guard isShared(key) else { return true }
        pass(data.count + metadata.count, to: key, reach, change) { store in
            defer { withExtendedLifetime(claim) {} }
            try await store.store(data, metadata: metadata, extended: Data(), for: key, expiration: expiration)
        }
        return true
    }

    /// Stages an entry on the disk once there is room for it, and hands it to the stores behind the caller.
    ///
    /// - Parameters:
    ///   - claim: the claim to make the entry, which ends once the stores have it.
    ///   - isWanted: whether the entry is still wanted once there is room.
    package func stage(
        _ data: Data, metadata: Data, extended: Data = Data(), for key: CacheKey, expiration: StorageExpiration?,
        reach: Reach, claim: CacheClaimToken? = nil, isWanted: () -> Bool = { true }
    ) async {
        let change = change(key)
        await disk?.stage(data, metadata: metadata, extended: extended, for: key, expiration: expiration)
        guard isShared(key), isWanted() else { return withExtendedLifetime(change) {} }
        pass(data.count + metadata.count + extended.count, to: key, reach, change) { store in
            defer { withExtendedLifetime(claim) {} }
            try await store.store(data, metadata: metadata, extended: extended, for: key, expiration: expiration)
        }
    }

    /// Hands an entry to the stores. A store that cannot keep it is a cache without it. One that must not have it, or for which
    /// there is no room in the queue, loses the former entry, which is older.
    private func pass(
        _ bytes: Int, to key: CacheKey, _ reach: Reach, _ change: Change?,
        _ hand: @escaping @Sendable (any CacheStore) async throws -> Void
    ) {
        let isTaken =
            reach == .everywhere
            && passes.add(bytes: bytes, to: key) { [self] isNewest in
                for store in stores where isNewest() { try? await hand(store) }
                withExtendedLifetime(change) {}
            }
        if !isTaken { forgetShared(key, change) }
    }

    /// Whether entries of this key go further than to the disk.
    package func isShared(_ key: CacheKey) -> Bool { !stores(for: key).isEmpty }

    /// Replaces the metadata of an entry on the disk, and behind the caller in the stores; see `CacheStore.updateMetadata`. A
    /// replacement that fails costs another revalidation, and has no other effect.
    ///
    /// - Parameter claim: the claim to renew the entry, which ends once the stores have it.
    package func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?, reach: Reach,
        claim: CacheClaimToken? = nil
    ) async {
        let change = change(key)
        _ = try? await disk?.updateMetadata(metadata, for: key, replacing: former, expiration: expiration)
        guard isShared(key) else { return }
        pass(metadata.count, to: key, reach, change) { store in
            defer { withExtendedLifetime(claim) {} }
            _ = try await store.updateMetadata(metadata, for: key, replacing: former, expiration: expiration)
        }
    }

    // MARK: - Removing

    /// Removes an entry from the disk, and behind the caller from the stores: a load that has found out that the entry is of
    /// no use does not wait for a store that is slow.
    package func forget(_ key: CacheKey) async {
        let change = change(key)
        await disk?.remove(key)
        forgetShared(key, change)
    }

    private func forgetShared(_ key: CacheKey, _ change: Change?) {
        guard isShared(key) else { return }
        passes.add(bytes: 0, to: key, isForced: true) { [self] _ in
            await removeShared(key)
            withExtendedLifetime(change) {}
        }
    }

    /// Removes an entry everywhere. This is completed even if the task is cancelled.
    package func remove(_ key: CacheKey) async { await remove([key]) }

    /// Removes entries: all of them from the disk before any from the stores, which takes longer. No entry that was on its way
    /// to a store arrives there afterwards.
    package func remove(_ keys: [CacheKey]) async {
        let changes = keys.map(change)
        defer { withExtendedLifetime(changes) {} }
        let underway = keys.compactMap(passes.void)
        for key in keys { await disk?.remove(key) }
        for pass in underway { await pass.value }
        await withTaskGroup(of: Void.self) { group in
            for key in keys where isShared(key) { group.addTask { await self.removeShared(key) } }
        }
    }

    private func removeShared(_ key: CacheKey) async {
        for store in stores(for: key) { await store.remove(key) }
    }

    /// Removes all entries everywhere, and the partial bodies in the folder of the disk.
    package func removeAll() async {
        passes.voidAll()
        await passes.drainAll()
        for store in stores { await store.clear() }
        // An entry that was found in a store before must not be copied behind the removal.
        lookUps.withLock { lookUps in
            for key in lookUps.keys { lookUps[key]?.changes += 1 }
        }
        await disk?.removeAll()
    }

    // MARK: - Making

    /// Asks the stores for the right to make an entry; see `CacheStore.claim`. The first that has claims decides.
    package func claim(_ key: CacheKey) async -> CacheClaim {
        for store in stores(for: key) {
            let claim = await store.claim(key)
            if case .alone = claim { continue }
            return claim
        }
        return .alone
    }
}
