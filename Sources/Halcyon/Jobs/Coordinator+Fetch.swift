import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

extension Coordinator {
    /// The source's bytes: from wherever they are nearest.
    func fetched(_ resolved: ResolvedRequest, demand: Demand) async throws -> FetchedData {
        let key = FetchKey(resolved)
        if let recent = recentFetch(key) { return recent }
        return try await fetches.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            guard case .remote(let url) = resolved.source else {
                return try await coordinator.fetchLocal(resolved, demand: demand)
            }
            let fetched = try await coordinator.fetchRemote(url, resolved, demand: demand)
            coordinator.rememberFetch(fetched, key)
            return fetched
        }
    }

    private func fetchLocal(_ resolved: ResolvedRequest, demand: Demand) async throws -> FetchedData {
        let local = try await withTicket(for: demand) { coordinator, ticket in
            try await coordinator.localBytes(of: resolved, ticket: ticket)
        }
        guard let local else {
            throw ImagePipelineError.badSource(source: resolved.source.description, reason: "it cannot be read")
        }
        if local.origin == .provider {
            demand.send(.progress(LoadProgress(received: local.data.count, expected: local.data.count)))
        }
        return local
    }

    // MARK: - Disk, then network

    private func fetchRemote(_ url: URL, _ resolved: ResolvedRequest, demand: Demand) async throws -> FetchedData {
        let (policy, mark) = (resolved.cache, resolved.originals.news.mark(resolved.key))
        var memory: ByteBudget.Hold?
        if policy.reads.contains(.diskOriginal), resolved.originals.disk != nil {
            memory = try await withTicket(for: demand) { try await EncodedBytes.hold(ticket: $1) }
        }
        let started = ContinuousClock.now
        let found =
            resolved.originals.disk == nil
            ? (nil, .notThere) : await withTicket(for: demand) { await $0.kept(resolved, ticket: $1) }
        let stored = found.original
        let took = ContinuousClock.now - started
        try Task.checkCancellation()
        if let stored {
            let check = freshnessCheck(resolved)
            if let rule = check.rule(for: stored.http) {
                demand.note(.cacheHit(.diskOriginal, rule), took: took)
                return stored.fetched(rule, mark: mark, memory: memory)
            }
            if mayRevalidateBehind(resolved), check.answersWhileRevalidated(stored.http) {
                revalidateBehind(resolved)
                demand.note(.cacheHit(.diskOriginal, .staleWhileRevalidate), took: took)
                return stored.fetched(.staleWhileRevalidate, mark: mark, memory: memory)
            }
            if !policy.allowsNetwork, stored.mayBeServedStale {
                demand.note(.cacheHit(.diskOriginal, .staleOffline), took: took)
                return stored.fetched(.staleOffline, mark: mark)
            }
        }
        if resolved.originals.disk != nil {
            let reads = policy.reads.contains(.diskOriginal)
            let reason: CacheMiss.Reason = reads ? found.miss : .policy
            demand.note(.cacheMissed(CacheMiss(.diskOriginal, reason)), took: took)
        }
        if let stored { demand.send(.stale(stored)) }
        // A transfer may take its time: it must not keep others from their disk.
        memory = nil
        guard policy.allowsNetwork, !requestControl(resolved).onlyIfCached else {
            throw ImagePipelineError.notInCache(source: resolved.source.description)
        }
        do {
            return try await rememberingFailures(of: resolved, demand: demand) { coordinator, demand in
                try await coordinator.download(url, resolved, stored: stored, mark: mark, demand: demand)
            }
        } catch let error as DownloadError {
            guard let stored, let rule = freshnessCheck(resolved).rule(for: stored.http, after: error) else {
                throw error
            }
            demand.note(.cacheHit(.diskOriginal, rule))
            return stored.fetched(rule, mark: mark)
        }
    }

    nonisolated func storedOriginal(_ resolved: ResolvedRequest, ticket: WorkTicket) async -> StoredOriginal? {
        await kept(resolved, ticket: ticket).original
    }

    /// What the disk holds of the source, and what is to be told where that does not answer.
    nonisolated private func kept(
        _ resolved: ResolvedRequest, ticket: WorkTicket
    ) async -> (original: StoredOriginal?, miss: CacheMiss.Reason) {
        guard resolved.cache.reads.contains(.diskOriginal) else { return (nil, .policy) }
        let reader = reader(of: resolved.originals, resolved, ticket: ticket)
        guard let (entry, place) = await reader.originalEntry(resolved.key) else { return (nil, .notThere) }
        let http = HTTPCacheMetadata(decoding: entry.metadata)
        // An answer to other header fields, where the server said that they matter, is no answer to these.
        if resolved.cache.freshness != .ignore, let http, !http.matches(requestHeaders: sentHeaders(resolved)) {
            return (nil, .otherFields)
        }
        do {
            let data = try await reader.bytes(of: entry)
            return (StoredOriginal(data: data, http: http, metadata: entry.metadata, place: place), .expired)
        } catch is CodecError {
            await resolved.originals.disk?.remove(place)
            return (nil, .notThere)
        } catch {
            return (nil, .notThere)
        }
    }

    nonisolated func reader(of cache: ImageCache, _ resolved: ResolvedRequest, ticket: WorkTicket) -> DiskImageReader {
        DiskImageReader(
            cache: cache, coders: configuration.coders, serializer: resolved.serializer, policy: resolved.cache,
            ticket: ticket)
    }

    // MARK: - Network

    private func download(
        _ url: URL, _ resolved: ResolvedRequest, stored: StoredOriginal?, mark: SourceMark, demand: Demand
    ) async throws -> FetchedData {
        let asked = configuration.clock.now
        // Those that go out now: the downloader's own may change before the answer is there.
        let sent = sentHeaders(resolved)
        var transfer = transferRequest(url, resolved, sent: sent, stored: stored, demand: demand)
        var result = try await transferred(transfer, demand: demand)
        if result.isNotModified {
            if let stored, stored.http?.isConfirmed(by: result.head) == true {
                return await revalidated(stored, by: result, resolved, sent: sent, now: asked, mark: mark)
            }
            // It speaks of something that is not here: asked for once more, as if nothing were kept.
            for name in ["If-None-Match", "If-Modified-Since"] { transfer.headers.remove(name) }
            result = try await transferred(transfer, demand: demand)
            if result.isNotModified { throw DownloadError(.httpStatus(304), url: url) }
        }
        // The earlier of the two times, so that nothing is taken for fresher than it is.
        var http = HTTPCacheMetadata(
            result.head, requestHeaders: sent, credentials: configuration.downloader.configuration.credentialFields,
            now: asked)
        // A temporary redirect may lead elsewhere tomorrow, however long its target says that it is good.
        if !result.redirectsArePermanent { http = http.requiringRevalidation() }
        var rule = CacheRule(
            storing: result, http, control: requestControl(resolved), replaces: stored != nil)
        // A hook or an interceptor has made it another's, or a default field has changed meanwhile.
        if !http.isShared, !result.isFor(resolved.sender) { rule = .notStored(.unknownUser) }
        if case .notStored(let reason) = rule { demand.note(.notStored(reason)) }
        return FetchedData(
            data: result.data, origin: .network, http: http, rule: rule, transfer: result.metrics, memory: result.hold,
            mark: mark)
    }

    private func transferred(_ transfer: DownloadRequest, demand: Demand) async throws -> DownloadResult {
        let ticket = DownloadTicket(priority: demand.priority)
        let link = demand.follow { ticket.priority = $0 }
        defer { demand.unfollow(link) }
        var transfer = transfer
        let observer = observe(&transfer, for: demand)
        defer { stopObserving(observer) }
        demand.note(.transferStarted)
        let newest = NewestProgress()
        let result: DownloadResult
        do {
            result = try await configuration.downloader.download(transfer, ticket: ticket) { progress in
                guard newest.put(progress) else { return }
                self.perform { $0.relay(newest, to: observer) }
            }
        } catch {
            if let error = error as? DownloadError { demand.note(.transferFailed(error)) }
            throw error
        }
        relay(newest, to: observer)
        demand.note(.transferEnded(TransferSummary(result)))
        return result
    }

    private func relay(_ newest: NewestProgress, to observer: Int) {
        guard let demand = observed[observer], let progress = newest.take() else { return }
        demand.send(.progress(LoadProgress(received: progress.received, expected: progress.expected)))
        if let body = progress.body { demand.send(.body(body)) }
    }

    private func revalidated(
        _ stored: StoredOriginal, by result: DownloadResult, _ resolved: ResolvedRequest, sent: HTTPHeaders, now: Date,
        mark: SourceMark
    ) async -> FetchedData {
        var http = stored.http?.merging(
            notModified: result.head, requestHeaders: sent,
            credentials: configuration.downloader.configuration.credentialFields, now: now)
        if !result.redirectsArePermanent { http = http?.requiringRevalidation() }
        let isOfUser = result.isFor(resolved.sender)
        var stays = true
        if let http, !http.noStore, isOfUser, resolved.cache.writes.contains(.diskOriginal) {
            let disk = resolved.originals.disk
            stays = resolved.key.place(of: http).originalDiskKey == stored.place
            if stays {
                // A disk that cannot be written costs another revalidation, and nothing else.
                _ = try? await disk?.updateMetadata(
                    http.encoded(), for: stored.place, replacing: stored.metadata,
                    expiration: resolved.cache.diskExpiration)
            } else {
                // It was for all and is for one now, or the other way round: it is stored anew, in its place.
                await disk?.remove(stored.place)
            }
        }
        return FetchedData(
            data: stored.data, origin: .revalidated, http: http, rule: .revalidated, transfer: result.metrics,
            isStored: stays, matchesKey: isOfUser, mark: mark)
    }

    /// The fields that a server sees, for what it says of them in `Vary`.
    nonisolated func sentHeaders(_ resolved: ResolvedRequest) -> HTTPHeaders {
        configuration.downloader.defaultHeaders.merging(resolved.request.network.headers)
            .showing(resolved.request.network.credential)
    }

    private func transferRequest(
        _ url: URL, _ resolved: ResolvedRequest, sent: HTTPHeaders, stored: StoredOriginal?, demand: Demand
    ) -> DownloadRequest {
        let options = resolved.request.network
        var transfer = DownloadRequest(url: url, priority: demand.priority)
        transfer.headers = sent
        // The others are among the fields.
        if options.credential?.digest != nil { transfer.credential = options.credential }
        transfer.user = options.user
        transfer.hooks = options.hooks
        transfer.bodyBudget = EncodedBytes.budget
        transfer.exposesBody = resolved.request.wantsPreviews
        transfer.timeouts = options.timeouts(over: configuration.downloader.configuration.timeouts)
        transfer.maximumBytes = options.maximumBytes ?? configuration.maximumBytes
        if let retries = options.retries {
            transfer.retry = configuration.downloader.configuration.retry
            transfer.retry?.maximumRetries = retries
        }
        if resolved.cache.reads.isEmpty, !transfer.headers.contains("Cache-Control") {
            // A reload means the caches on the way as well.
            transfer.headers.set("Cache-Control", "no-cache")
        }
        for field in stored?.http?.conditionalHeaders.fields ?? [] { transfer.headers.set(field.name, field.value) }
        return transfer
    }
}

extension DownloadResult {
    /// Whether nobody else has asked for it.
    fileprivate func isFor(_ user: KeyedHash?) -> Bool { users.allSatisfy { $0 == user } }
}
