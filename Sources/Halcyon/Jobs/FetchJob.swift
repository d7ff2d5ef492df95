import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// The fetch of a source's encoded bytes from the nearest place: the source itself if it has them at hand, otherwise the disk,
/// otherwise the server or the provider.
@JobActor
struct FetchJob {
    let resolved: ResolvedRequest
    let subscription: Subscription

    private var coordinator: Coordinator { resolved.coordinator }

    /// Returns the bytes. The image of a provider is encoded.
    static func bytes(of resolved: ResolvedRequest, for subscription: Subscription) async throws -> FetchedData {
        let fetched = try await bytesOrImage(of: resolved, for: subscription)
        return try await subscription.withTicket { try await fetched.encoded(for: resolved, ticket: $0) }
    }

    /// Returns the bytes, or the image of a provider, by a job that is shared by all callers that ask for them at the same time.
    static func bytesOrImage(
        of resolved: ResolvedRequest, for subscription: Subscription
    ) async throws -> FetchedData {
        let (key, coordinator) = (FetchKey(resolved), resolved.coordinator)
        if let recent = coordinator.recentFetches[key] { return recent }
        return try await coordinator.fetches.value(for: key, subscription) {
            let job = FetchJob(resolved: resolved, subscription: $0)
            let fetched: FetchedData
            switch resolved.source {
            case .remote(let url): fetched = try await job.remote(url)
            case .provider: fetched = try await job.provided()
            default: return try await job.local(resolved.originals.changes.mark(resolved.key))
            }
            coordinator.recentFetches[key] = fetched
            return fetched
        }
    }

    private func local(_ mark: SourceMark) async throws -> FetchedData {
        let local = try await subscription.withTicket {
            try await LocalSource.bytes(of: resolved, mark: mark, ticket: $0)
        }
        guard let local else {
            throw ImagePipelineError.badSource(source: resolved.source.description, reason: "it cannot be read")
        }
        return local
    }

    /// Calls the provider for what the disk has not.
    private func provided() async throws -> FetchedData {
        let mark = resolved.originals.changes.mark(resolved.key)
        if resolved.originals.entries != nil, resolved.mayUse(.diskOriginal) {
            if let answer = try await onDisk(mark, in: .disk).answer { return answer }
            if readsStores, let answer = try await onDisk(mark, in: .stores).answer { return answer }
        }
        let provided = try await local(mark)
        if let count = provided.bytes?.count {
            subscription.send(.progress(LoadProgress(received: count, expected: count)))
        }
        return provided
    }

    // MARK: - Disk, then server

    /// Asks the server for what the disk has not, unless the server's failure is remembered.
    ///
    /// - Throws: `ImagePipelineError.remembered`, `.notInCache`; `DownloadError`; `CodecError.limitExceeded` if the first bytes tell it.
    private func remote(_ url: URL) async throws -> FetchedData {
        let (policy, mark) = (resolved.cachePolicy, resolved.originals.changes.mark(resolved.key))
        var stored: FetchedData?
        if resolved.originals.entries != nil {
            let (found, answer) = try await onDisk(mark, in: .disk)
            if let answer { return answer }
            stored = found
        }
        if let stored { subscription.send(.stale(stored)) }
        var renewal: CacheClaimToken?
        if readsStores {
            renewal = await renewalClaim(for: stored)
            // Another process may have fetched them since.
            var (found, answer) = try await onDisk(mark, in: .stores)
            if answer == nil, stored == nil, let claim = await renewalClaim(for: found) {
                renewal = claim
                (found, answer) = try await onDisk(mark, in: .stores)
            }
            if let answer { return answer }
            stored = found ?? stored
        }
        try Task.checkCancellation()
        guard policy.allowsNetwork, !resolved.control.onlyIfCached else {
            throw ImagePipelineError.notInCache(source: resolved.source.description)
        }
        let key = FailureMemory.Key(resolved)
        if let key { try await throwRemembered(url, key) }
        let (shared, claim) = stored == nil ? try await sharedOrClaim(mark) : (nil, renewal)
        if let shared { return shared }
        let generation = resolved.coders.generation
        do {
            let question = ServerQuestion(
                url: url, resolved: resolved, stored: stored, mark: mark, claim: claim, subscription: subscription)
            let fetched = try await question.answer()
            if let key { await forgetFailure(key) }
            return fetched
        } catch let error as CodecError {
            // The first bytes have told it.
            if let key { Self.remember(error, key, generation, of: resolved) }
            throw error
        } catch let error as DownloadError {
            if let key { remember(error, key) }
            guard let stored, let rule = FreshnessCheck(resolved).rule(for: stored.provenance.http, after: error) else {
                throw error
            }
            subscription.note(.cacheHit(.diskOriginal, rule))
            return stored.used(by: rule, mark: mark)
        }
    }

    /// Whether there are stores behind the disk that may have the bytes.
    private var readsStores: Bool {
        resolved.mayUse(.diskOriginal) && resolved.cachePolicy.reads.contains(.diskOriginal)
            && resolved.originals.entries?.isShared(resolved.key.originalEntryKey) == true
    }

    /// Waits for a process that fetches the bytes.
    ///
    /// - Returns: bytes that may be used, or else the claim to fetch them if there is one to have.
    private func sharedOrClaim(_ mark: SourceMark) async throws -> (FetchedData?, CacheClaimToken?) {
        guard readsStores, resolved.cachePolicy.writes.contains(.diskOriginal) else { return (nil, nil) }
        switch await resolved.originals.entries?.claim(resolved.key.originalEntryKey) {
        case .granted(let token): return (nil, token)
        case .stored: return (try await onDisk(mark, in: .stores).answer, nil)
        case .alone, nil: return (nil, nil)
        }
    }

    /// Waits for a process that asks the server about bytes which are no longer fresh, where an answer would make them fresh for all.
    ///
    /// - Returns: the claim to ask; nil also if nobody can be waited for, or has been for long enough.
    private func renewalClaim(for stored: FetchedData?) async -> CacheClaimToken? {
        guard let http = stored?.provenance.http, FreshnessCheck(resolved).mayBeRenewedForAll(http),
            resolved.cachePolicy.allowsNetwork, !resolved.control.onlyIfCached,
            resolved.cachePolicy.writes.contains(.diskOriginal),
            case .granted(let token) = await resolved.originals.entries?.claim(resolved.key.renewalKey)
        else { return nil }
        return token
    }

    /// Looks for the bytes on the disk, or in the stores behind it.
    ///
    /// - Returns: the bytes if they may be used, otherwise the stored bytes that the server must revalidate.
    private func onDisk(
        _ mark: SourceMark, in place: CacheStoreChain.Place
    ) async throws -> (stored: FetchedData?, answer: FetchedData?) {
        var memory: ByteBudget.Hold?
        // Nothing holds a reservation while it waits for the network.
        if place == .disk, resolved.cachePolicy.reads.contains(.diskOriginal) {
            memory = try await subscription.withTicket { try await EncodedDataBudget.hold(ticket: $0) }
        }
        let watch = Stopwatch()
        let found = await subscription.withTicket {
            await FetchedData.find(resolved, in: place, ticket: $0)
        }
        let took = watch.elapsed
        try Task.checkCancellation()
        guard let stored = found.stored else {
            // One look, in two places.
            if place == .disk { subscription.note(.cacheMissed(CacheMiss(.diskOriginal, found.miss)), took: took) }
            return (nil, nil)
        }
        switch FreshnessCheck(resolved).verdict(on: stored.provenance.http, mayRevalidateInBackground: true) {
        case .answers(let rule):
            subscription.note(.cacheHit(.diskOriginal, rule), took: took)
            if rule == .staleWhileRevalidate { coordinator.revalidate(resolved) }
            return (stored, stored.used(by: rule, mark: mark, memory: memory))
        case .refused where !resolved.cachePolicy.allowsNetwork && stored.provenance.mayBeServedStale:
            subscription.note(.cacheHit(.diskOriginal, .staleOffline), took: took)
            return (stored, stored.used(by: .staleOffline, mark: mark))
        case .refused(let reason):
            // The memory reservation is released here: a transfer may take long, and must not keep other requests from
            // reading their bytes from the disk.
            subscription.note(.cacheMissed(CacheMiss(.diskOriginal, reason)), took: took)
            return (stored, nil)
        }
    }
}

// MARK: - Proof

extension FetchJob {
    /// Passes the source's bytes to `use`, which finds out whether they are an image.
    static func provenBytes<Value: Sendable>(
        of resolved: ResolvedRequest, for subscription: Subscription,
        _ use: @JobActor (FetchedData, ResolvedRequest) async throws -> Value
    ) async throws -> Value {
        try await provenBytesOrImage(of: resolved, for: subscription) { fetched, resolved in
            let encoded = try await subscription.withTicket { try await fetched.encoded(for: resolved, ticket: $0) }
            return try await use(encoded, resolved)
        }
    }

    /// Passes the source's bytes, or the image of a provider, to `use`, which finds out whether they can be used.
    static func provenBytesOrImage<Value: Sendable>(
        of resolved: ResolvedRequest, for subscription: Subscription,
        _ use: @JobActor (FetchedData, ResolvedRequest) async throws -> Value
    ) async throws -> Value {
        let fetched = try await bytesOrImage(of: resolved, for: subscription)
        do {
            return try await proven(fetched, resolved, use)
        } catch let error as CodecError
            where [.disk, .revalidated, .stale].contains(fetched.provenance.origin) && error.blamesBytes
        {
            fetched.giveUpMemory()
            await ImageStore(resolved).removeOriginal()
            guard resolved.cachePolicy.allowsNetwork else { throw error }
            let again = resolved.changing { $0.cachePolicy.reads.remove(.diskOriginal) }
            return try await proven(try await bytesOrImage(of: again, for: subscription), again, use)
        }
    }

    private static func proven<Value: Sendable>(
        _ fetched: FetchedData, _ resolved: ResolvedRequest,
        _ use: @JobActor (FetchedData, ResolvedRequest) async throws -> Value
    ) async throws -> Value {
        let (coordinator, generation) = (resolved.coordinator, resolved.coders.generation)
        do {
            return try await use(fetched, resolved)
        } catch let error as CodecError {
            if fetched.provenance.origin == .network, let key = FailureMemory.Key(resolved) {
                remember(error, key, generation, of: resolved)
            }
            // A caller that asks again needs other bytes, even if another load still works with these.
            coordinator.recentFetches.forget(fetched, FetchKey(resolved))
            throw error
        }
    }

    /// Keeps bytes that have proved to be an image: they go to the disk if the request says so, and no load that begins
    /// from now on receives older ones.
    ///
    /// - Parameter image: the image that was decoded from them, for a serializer that stores it.
    static func keep(
        _ fetched: FetchedData, of image: Image?, _ resolved: ResolvedRequest, _ subscription: Subscription
    ) {
        store(fetched, of: image, resolved, subscription)
        // From here on the disk answers requests for these bytes.
        resolved.coordinator.recentFetches.forget(fetched, FetchKey(resolved))
    }

    /// Keeps the bytes, and returns once they are on the disk. Until then, other requests find them among the recent
    /// fetches.
    static func keepUntilStored(
        _ fetched: FetchedData, _ resolved: ResolvedRequest, _ subscription: Subscription
    ) async {
        store(fetched, of: nil, resolved, subscription)
        await ImageStore(resolved).drain()
        resolved.coordinator.recentFetches.forget(fetched, FetchKey(resolved))
    }

    private static func store(
        _ fetched: FetchedData, of image: Image?, _ resolved: ResolvedRequest, _ subscription: Subscription
    ) {
        // Each load calls this, since the bytes may be stored for one load and not for another; they are stored once.
        if ImageStore(resolved).storeOriginal(fetched, of: image) { subscription.note(.stored(.diskOriginal)) }
        if fetched.provenance.origin.isNew, fetched.provenance.mayBeKept { resolved.tellOthers(of: fetched) }
    }
}
