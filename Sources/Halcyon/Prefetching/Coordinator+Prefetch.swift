import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// What prefetchers ask for.
extension Coordinator {
    /// One request of a prefetcher: skipped where it is there already, else loaded if `mayLoad` still says so then.
    func prefetch(
        _ request: ImageRequest, to destination: ImagePrefetcher.Destination, urgency: PrefetchPriority,
        mayLoad: @Sendable () -> Bool
    ) async -> PrefetchEnd {
        do {
            let resolved = await resolvedForPrefetch(request, to: destination)
            try validate(resolved.request)
            return try await withDemand(of: urgency, source: request.source) { coordinator, demand in
                let isThere = await coordinator.withTicket(for: demand) { coordinator, ticket in
                    await coordinator.isThere(resolved, destination, ticket: ticket)
                }
                if isThere { return (.skipped, destination == .memory ? .memory : .disk) }
                guard mayLoad() else { return (.open, nil) }
                return (.finished, try await coordinator.load(resolved, to: destination, demand: demand))
            }
        } catch let error as ImagePrefetchError {
            return .failed(error)
        } catch {
            return .failed(ImagePipelineError.wrapping(error, source: request.source))
        }
    }

    func priorityChanged(of urgency: PrefetchPriority) {
        for demand in prefetchDemands[ObjectIdentifier(urgency), default: [:]].values {
            demand.setPriority(urgency.value)
        }
    }

    /// - Parameter work: its end, and where the image came from; nil where nothing was begun.
    private func withDemand(
        of urgency: PrefetchPriority, source: ImageSource,
        _ work: (isolated Coordinator, Demand) async throws -> (PrefetchEnd, ImageOrigin?)
    ) async throws -> PrefetchEnd {
        let (owner, number) = (ObjectIdentifier(urgency), makeSubscriber())
        let record = LoadRecord(hub, source: source)
        let demand = Demand(priority: urgency.value) { record.take($0) }
        prefetchDemands[owner, default: [:]][number] = demand
        defer {
            prefetchDemands[owner]?[number] = nil
            if prefetchDemands[owner]?.isEmpty ?? false { prefetchDemands[owner] = nil }
        }
        do {
            let (end, origin) = try await work(self, demand)
            record.end(origin.map { .success($0, record.metrics(completing: LoadMetrics(), rule: nil)) } ?? .cancelled)
            return end
        } catch {
            record.fail(ImagePipelineError.wrapping(error, source: source))
            throw error
        }
    }

    /// Off the coordinator: a file's key needs a look at the file.
    nonisolated private func resolvedForPrefetch(
        _ request: ImageRequest, to destination: ImagePrefetcher.Destination
    ) async -> ResolvedRequest {
        ResolvedRequest(request, for: configuration).changing { request in
            request.showsNothing()
            switch destination {
            case .memory: request.cache.writes.insert(.memory)
            case .disk:
                let memory: CachePolicy.Levels = [.memory, .memoryOriginal]
                // An image in memory is none on the disk.
                request.cache.reads.subtract(memory)
                request.cache.writes.subtract(memory)
                // Of many that come faster than the disk writes, some would not be kept.
                request.cache.waitsForStore = true
            }
        }
    }

    // MARK: - Look-ups

    nonisolated private func isThere(
        _ resolved: ResolvedRequest, _ destination: ImagePrefetcher.Destination, ticket: WorkTicket
    ) async -> Bool {
        switch destination {
        case .memory: return cachedImage(for: resolved) != nil
        case .disk:
            if resolved.keepsOriginal {
                guard await hasFreshOriginal(resolved, ticket: ticket) else { return false }
            }
            if resolved.keepsFinished {
                guard await hasFreshFinished(resolved, ticket: ticket) else { return false }
            }
            return true
        }
    }

    nonisolated private func hasFreshOriginal(_ resolved: ResolvedRequest, ticket: WorkTicket) async -> Bool {
        guard let stored = await storedOriginal(resolved, ticket: ticket) else { return false }
        return freshnessCheck(resolved).rule(for: stored.http) != nil
    }

    nonisolated private func hasFreshFinished(_ resolved: ResolvedRequest, ticket: WorkTicket) async -> Bool {
        guard resolved.cache.reads.contains(.diskProcessed),
            let entry = await resolved.target.peek(
                resolved.key, at: \.processedDiskKey, isForAll: \.isFinishedForAll, ticket: ticket),
            let finished = FinishedImage(entry)
        else { return false }
        return freshnessCheck(resolved).rule(for: finished.http) != nil
            && (finished.http?.matches(requestHeaders: sentHeaders(resolved)) ?? true)
    }

    // MARK: - Loads

    private func load(
        _ resolved: ResolvedRequest, to destination: ImagePrefetcher.Destination, demand: Demand
    ) async throws -> ImageOrigin {
        guard destination == .disk else { return try await response(for: resolved, demand: demand).origin }
        let origin =
            resolved.keepsFinished
            ? try await response(for: resolved, demand: demand).origin
            : try await keepOriginal(resolved, demand: demand)
        guard await isOnDisk(resolved) else {
            try Task.checkCancellation()
            throw ImagePrefetchError.notKept(source: resolved.source.description)
        }
        return origin
    }

    /// Brings the source's bytes to the disk, once their head has proved to be that of an image within the limits.
    private func keepOriginal(_ resolved: ResolvedRequest, demand: Demand) async throws -> ImageOrigin {
        let fetched = try await fetched(resolved, demand: demand)
        let (coders, options) = (coders(for: resolved), resolved.request.decode)
        _ = try await compute(for: demand) { _ in try coders.plan(fetched.data, options: options) }
        keep(fetched, of: nil, resolved, demand: demand)
        // Requests that come meanwhile take these bytes: the disk may not know of them yet.
        await waitForStores(resolved)
        forgetFetch(fetched, FetchKey(resolved))
        return fetched.origin
    }

    nonisolated private func isOnDisk(_ resolved: ResolvedRequest) async -> Bool {
        if resolved.keepsOriginal {
            guard await isOnDisk(resolved.originals, resolved.key, at: \.originalDiskKey) else { return false }
        }
        guard resolved.keepsFinished else { return true }
        return await isOnDisk(resolved.target, resolved.key, at: \.processedDiskKey)
    }

    nonisolated private func isOnDisk(_ cache: ImageCache, _ key: ImageKey, at place: (ImageKey) -> DiskKey) async
        -> Bool
    {
        guard let disk = cache.disk else { return false }
        if await disk.contains(place(key)) { return true }
        return key.user == nil ? false : await disk.contains(place(key.of(nil)))
    }
}

extension ResolvedRequest {
    /// Whether the disk is to have the source's bytes.
    fileprivate var keepsOriginal: Bool {
        isRemote && cache.writes.contains(.diskOriginal) && originals.disk != nil
    }

    /// Whether the disk is to have the finished image apart from them.
    fileprivate var keepsFinished: Bool {
        isRemote && cache.writes.contains(.diskProcessed) && hasPlaceOfItsOwn && target.disk != nil
    }
}
