import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// The fetch of a source's encoded bytes from the nearest place: the source itself if it is local, otherwise the disk,
/// otherwise the server.
@JobActor
struct FetchJob {
    let resolved: ResolvedRequest
    let subscription: Subscription

    private var coordinator: Coordinator { resolved.coordinator }

    /// Returns the bytes, by a job that is shared by all callers that ask for them at the same time.
    static func bytes(of resolved: ResolvedRequest, for subscription: Subscription) async throws -> FetchedData {
        let (key, coordinator) = (FetchKey(resolved), resolved.coordinator)
        if let recent = coordinator.recentFetches[key] { return recent }
        return try await coordinator.fetches.value(for: key, subscription) {
            let job = FetchJob(resolved: resolved, subscription: $0)
            guard case .remote(let url) = resolved.source else { return try await job.local() }
            let fetched = try await job.remote(url)
            coordinator.recentFetches[key] = fetched
            return fetched
        }
    }

    private func local() async throws -> FetchedData {
        let local = try await subscription.withTicket { try await LocalSource.bytes(of: resolved, ticket: $0) }
        guard let local else {
            throw ImagePipelineError.badSource(source: resolved.source.description, reason: "it cannot be read")
        }
        if local.provenance.origin == .provider {
            subscription.send(.progress(LoadProgress(received: local.data.count, expected: local.data.count)))
        }
        return local
    }

    // MARK: - Disk, then server

    private func remote(_ url: URL) async throws -> FetchedData {
        let (policy, mark) = (resolved.cache, resolved.originals.changes.mark(resolved.key))
        var stored: FetchedData?
        if resolved.originals.disk != nil {
            let (found, answer) = try await onDisk(mark)
            if let answer { return answer }
            stored = found
        }
        if let stored { subscription.send(.stale(stored)) }
        try Task.checkCancellation()
        guard policy.allowsNetwork, !resolved.control.onlyIfCached else {
            throw ImagePipelineError.notInCache(source: resolved.source.description)
        }
        do {
            return try await fromServer(url, stored, mark)
        } catch let error as DownloadError {
            guard let stored, let rule = FreshnessCheck(resolved).rule(for: stored.provenance.http, after: error) else {
                throw error
            }
            subscription.note(.cacheHit(.diskOriginal, rule))
            return stored.used(by: rule, mark: mark)
        }
    }

    /// Looks for the bytes on the disk.
    ///
    /// - Returns: the bytes if they may be used, otherwise the stored bytes that the server must revalidate.
    private func onDisk(_ mark: SourceMark) async throws -> (stored: FetchedData?, answer: FetchedData?) {
        var memory: ByteBudget.Hold?
        if resolved.cache.reads.contains(.diskOriginal) {
            memory = try await subscription.withTicket { try await EncodedDataBudget.hold(ticket: $0) }
        }
        let watch = Stopwatch()
        let found = await subscription.withTicket { await FetchedData.find(resolved, ticket: $0) }
        let took = watch.elapsed
        try Task.checkCancellation()
        guard let stored = found.stored else {
            subscription.note(.cacheMissed(CacheMiss(.diskOriginal, found.miss)), took: took)
            return (nil, nil)
        }
        switch FreshnessCheck(resolved).verdict(on: stored.provenance.http, mayRevalidateBehind: true) {
        case .answers(let rule):
            subscription.note(.cacheHit(.diskOriginal, rule), took: took)
            if rule == .staleWhileRevalidate { coordinator.revalidate(resolved) }
            return (stored, stored.used(by: rule, mark: mark, memory: memory))
        case .refused where !resolved.cache.allowsNetwork && stored.provenance.mayBeServedStale:
            subscription.note(.cacheHit(.diskOriginal, .staleOffline), took: took)
            return (stored, stored.used(by: .staleOffline, mark: mark))
        case .refused(let reason):
            // The memory reservation is released here: a transfer may take long, and must not keep other requests from
            // reading their bytes from the disk.
            subscription.note(.cacheMissed(CacheMiss(.diskOriginal, reason)), took: took)
            return (stored, nil)
        }
    }

    /// Asks the server, unless its failure is remembered.
    ///
    /// - Throws: `ImagePipelineError.remembered`; `DownloadError`.
    private func fromServer(_ url: URL, _ stored: FetchedData?, _ mark: SourceMark) async throws -> FetchedData {
        let question = ServerQuestion(
            url: url, resolved: resolved, stored: stored, mark: mark, subscription: subscription)
        let (failures, now) = (coordinator.failures, coordinator.configuration.clock)
        guard let key = FailureMemory.Key(resolved) else { return try await question.answer() }
        // A reload ignores remembered failures, since it asks for the present state.
        if !resolved.request.network.retriesFailures, !resolved.cache.reads.isEmpty,
            let error = failures.failure(key, now: now.now)
        {
            throw ImagePipelineError.remembered(error)
        }
        do {
            let fetched = try await question.answer()
            failures.hasArrived(key)
            return fetched
        } catch let error as DownloadError {
            failures.remember(error, key, source: resolved.source, now: now.now)
            throw error
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
        let fetched = try await bytes(of: resolved, for: subscription)
        do {
            return try await proven(fetched, resolved, use)
        } catch let error as CodecError
            where [.disk, .revalidated, .stale].contains(fetched.provenance.origin) && error.blamesBytes
        {
            fetched.giveUpMemory()
            await ImageStore(resolved).removeOriginal()
            guard resolved.cache.allowsNetwork else { throw error }
            let again = resolved.changing { $0.cache.reads.remove(.diskOriginal) }
            return try await proven(try await bytes(of: again, for: subscription), again, use)
        }
    }

    private static func proven<Value: Sendable>(
        _ fetched: FetchedData, _ resolved: ResolvedRequest,
        _ use: @JobActor (FetchedData, ResolvedRequest) async throws -> Value
    ) async throws -> Value {
        do {
            return try await use(fetched, resolved)
        } catch let error as CodecError {
            let coordinator = resolved.coordinator
            if fetched.provenance.origin == .network, let key = FailureMemory.Key(resolved) {
                coordinator.failures.remember(
                    error, key, source: resolved.source, now: coordinator.configuration.clock.now)
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
        if fetched.provenance.origin == .network, fetched.provenance.mayBeKept { resolved.tellOthers(of: fetched) }
    }
}
