import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// One request of a prefetcher: skipped if the destination has it already, otherwise loaded.
@JobActor
struct PrefetchJob {
    let resolved: ResolvedRequest
    let destination: ImagePrefetcher.Destination
    let subscription: Subscription

    /// Processes a request of a prefetcher.
    ///
    /// - Parameter mayLoad: called once more after the look-up.
    static func run(
        _ request: ImageRequest, to destination: ImagePrefetcher.Destination, urgency: PrefetchPriority,
        in coordinator: Coordinator, mayLoad: @Sendable () -> Bool
    ) async -> PrefetchEnd {
        do {
            let resolved = await resolve(request, to: destination, for: coordinator)
            try resolved.request.validate()
            let record = coordinator.begin(request.source, priority: urgency.value)
            urgency.add(record)
            defer { urgency.remove(record) }
            return try await coordinator.run(record) { subscription in
                let job = PrefetchJob(resolved: resolved, destination: destination, subscription: subscription)
                if await job.isThere() {
                    return (.skipped, Provenance(origin: destination == .memory ? .memory : .disk))
                }
                guard mayLoad() else { return (.open, nil) }
                let provenance = try await job.load()
                let wasThere = job.isIntercepted && provenance.origin == .memory
                return (wasThere ? .skipped : .finished, provenance)
            }.value
        } catch let error as ImagePrefetchError {
            return .failed(error)
        } catch {
            return .failed(ImagePipelineError.wrapping(error, source: request.source))
        }
    }

    /// Resolves the request. Runs off the actor because the key of a file requires a system call.
    @concurrent
    nonisolated private static func resolve(
        _ request: ImageRequest, to destination: ImagePrefetcher.Destination, for coordinator: Coordinator
    ) async -> ResolvedRequest {
        ResolvedRequest(request, for: coordinator).changing { request in
            request.showsNothing()
            switch destination {
            case .memory: request.cachePolicy.writes.insert(.memory)
            case .disk:
                let memory: CacheLevels = [.memory, .memoryOriginal]
                // An image in memory is not on the disk.
                request.cachePolicy.reads.subtract(memory)
                request.cachePolicy.writes.subtract(memory)
                // Without waiting, some images would not be stored if they arrive faster than the disk writes.
                request.cachePolicy.waitsForStore = true
            }
        }
    }

    /// Whether interceptors are called: they may make another request of this one. A disk gets bytes, which have none.
    private var isIntercepted: Bool { destination == .memory && resolved.coordinator.isIntercepted }

    // MARK: - Look-ups

    private func isThere() async -> Bool {
        switch destination {
        case .memory: return !isIntercepted && resolved.imageInMemory != nil
        case .disk:
            return await subscription.withTicket { ticket in
                if resolved.keepsOriginal, await !hasFreshOriginal(ticket) { return false }
                if resolved.keepsFinished, await !hasFreshFinished(ticket) { return false }
                return true
            }
        }
    }

    private func hasFreshOriginal(_ ticket: WorkTicket) async -> Bool {
        guard let stored = await FetchedData.stored(for: resolved, ticket: ticket) else { return false }
        return FreshnessCheck(resolved).verdict(on: stored.provenance.http).answers
    }

    private func hasFreshFinished(_ ticket: WorkTicket) async -> Bool {
        guard resolved.cachePolicy.reads.contains(.diskProcessed),
            let entry = await resolved.target.peek(
                resolved.key, at: \.processedEntryKey, isForAll: \.isFinishedForAll, ticket: ticket),
            let finished = entry.finishedImage
        else { return false }
        return FreshnessCheck(resolved).verdict(on: finished.http).answers
    }

    // MARK: - Loads

    private func load() async throws -> Provenance {
        let provenance =
            destination == .disk && !resolved.keepsFinished ? try await keepOriginal() : try await finishedImage()
        guard destination == .disk else { return provenance }
        guard await isOnDisk() else {
            try subscription.checkCancellation()
            throw ImagePrefetchError.notKept(source: resolved.source.description)
        }
        return provenance
    }

    private func finishedImage() async throws -> Provenance {
        if isIntercepted {
            let response = try await InterceptedLoad.response(to: resolved, for: subscription)
            return Provenance(origin: response.origin, encodedBytes: response.metrics.bytes ?? 0)
        }
        let loaded = try await RequestLoad(resolved: resolved, subscription: subscription).image()
        if resolved.cachePolicy.waitsForStore { await ImageStore(resolved).drain() }
        return loaded.provenance
    }

    /// Brings the source's bytes to the disk, once their header has proved to be that of an image within the limits.
    private func keepOriginal() async throws -> Provenance {
        try await FetchJob.provenBytes(of: resolved, for: subscription) { fetched, resolved in
            let (coders, options) = (resolved.coders, resolved.request.decode)
            _ = try await subscription.compute { context in
                try coders.reporting(fetched.data) {
                    try coders.plan(fetched.data, options: options, context: context)
                }
            }
            await FetchJob.keepUntilStored(fetched, resolved, subscription)
            return fetched.provenance
        }
    }

    private func isOnDisk() async -> Bool {
        if resolved.keepsOriginal {
            guard await isOnDisk(resolved.originals, at: \.originalEntryKey) else { return false }
        }
        guard resolved.keepsFinished else { return true }
        return await isOnDisk(resolved.target, at: \.processedEntryKey)
    }

    private func isOnDisk(_ cache: ImageCache, at diskKey: @Sendable (ImageKey) -> CacheKey) async -> Bool {
        guard let entries = cache.entries else { return false }
        if await entries.contains(diskKey(resolved.key)) { return true }
        if resolved.key.user != nil, await entries.contains(diskKey(resolved.key.of(nil))) { return true }
        guard resolved.key.decode.decodesGainMap else { return false }
        return await cache.peek(resolved.key, at: diskKey, isForAll: \.isFinishedForAll) != nil
    }
}

extension ResolvedRequest {
    /// Whether the disk is to store the source's bytes.
    fileprivate var keepsOriginal: Bool {
        mayUse(.diskOriginal) && cachePolicy.writes.contains(.diskOriginal) && originals.entries != nil
    }

    /// Whether the disk is to store the finished image in a separate entry.
    fileprivate var keepsFinished: Bool {
        mayUse(.diskProcessed) && cachePolicy.writes.contains(.diskProcessed) && hasEntryOfItsOwn
            && target.entries != nil
    }
}

/// The result of one step of a prefetch.
enum PrefetchEnd {
    /// The request must not be loaded now.
    case open
    case finished
    case skipped
    case failed(any Error)
}
