import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

extension Coordinator {
    /// The whole way of a request, as one of possibly many who ask.
    func response(for resolved: ResolvedRequest, demand: Demand) async throws -> ImageResponse {
        let started = ContinuousClock.now
        try validate(resolved.request)
        // Looked up again: the job that was under way when this request was made may have ended since.
        let loaded: LoadedImage
        let answer = answerInMemory(resolved)
        let took = ContinuousClock.now - started
        if let answer {
            demand.note(.cacheHit(.memory, answer.rule), took: took)
            loaded = LoadedImage(answer, origin: .memory)
        } else {
            noteMemoryMiss(resolved, demand, took: took)
            let key = LoadKey(resolved, image: resolved.key)
            loaded = try await loads.value(for: key, demand: demand, isolation: self) { coordinator, demand in
                try await coordinator.loadShowingStale(resolved, demand: demand)
            }
        }
        if resolved.cache.waitsForStore { await waitForStores(resolved) }
        return response(to: resolved, loaded, started: started)
    }

    /// The finished image in memory, if it may answer this request now. On any thread, in under a microsecond.
    nonisolated func cachedImage(for resolved: ResolvedRequest) -> CachedAnswer? {
        resolved.target.image(for: resolved.key, policy: resolved.cache).flatMap { answer($0, resolved) }
    }

    func validate(_ request: ImageRequest) throws {
        if case .malformed(let text, let reason) = request.source {
            throw ImagePipelineError.invalidRequest(
                source: text.isEmpty ? "(no URL)" : request.source.description, reason: reason)
        }
        // Before anything is fetched for it.
        for processor in request.processors { try processor.validate() }
    }

    private func response(
        to resolved: ResolvedRequest, _ loaded: LoadedImage, started: ContinuousClock.Instant
    ) -> ImageResponse {
        var metrics = LoadMetrics()
        metrics.total = ContinuousClock.now - started
        metrics.decode = loaded.decode
        metrics.process = loaded.process
        metrics.bytes = loaded.encodedBytes
        metrics.transfer = loaded.fetched?.transfer
        return ImageResponse(
            image: resolved.delivered(loaded.image), origin: loaded.origin, source: resolved.source,
            originalSource: resolved.source,
            metrics: metrics, cacheRule: loaded.rule, encoded: encodedBytes(of: resolved, fetched: loaded.fetched))
    }

    /// A load that nobody has under way: the finished image from disk, else the steps to it.
    func load(_ resolved: ResolvedRequest, demand: Demand) async throws -> LoadedImage {
        let (cache, mark) = (resolved.target, resolved.originals.news.mark(resolved.key))
        if let finished = try await finishedOnDisk(resolved, demand: demand) {
            if !mark.isOutdated(in: .memory) { remember(finished.cached, resolved, demand) }
            return LoadedImage(finished, origin: .disk)
        }
        let made = try await image(for: resolved, demand: demand)
        if made.mayBeKept {
            if !made.isOutdated(in: .memory, since: mark) {
                let cached = CachedImage(image: made.image, encodedBytes: made.encodedBytes, http: made.http)
                remember(cached, resolved, demand)
            }
            if !made.isOutdated(in: .disk, since: mark), storeFinished(made, resolved) {
                demand.note(.stored(.diskProcessed))
            }
            if resolved.cache.reads.isEmpty, made.origin == .network, resolved.key.isProcessed {
                // A reload: other processors must not start from what was there before.
                cache.forgetUnprocessed(resolved.key, policy: resolved.cache)
            }
        } else if made.http?.noStore == true {
            // What was kept of an earlier answer is no longer what the server gives.
            await cache.remove(resolved.key, .all)
            if resolved.originals !== cache { await resolved.originals.remove(resolved.key, .all) }
        }
        return LoadedImage(
            image: made.image, origin: made.origin, encodedBytes: made.encodedBytes, fetched: made.fetched,
            rule: made.fetched == nil ? made.keptRule : made.fetched?.rule, http: made.http,
            decode: made.decode, process: made.process)
    }

    private func remember(_ cached: CachedImage, _ resolved: ResolvedRequest, _ demand: Demand) {
        resolved.target.remember(cached, for: resolved.key, policy: resolved.cache)
        if resolved.cache.writes.contains(.memory) { demand.note(.stored(.memory)) }
    }

    private func finishedOnDisk(_ resolved: ResolvedRequest, demand: Demand) async throws -> CachedAnswer? {
        guard resolved.hasPlaceOfItsOwn, resolved.isRemote, resolved.target.disk != nil else { return nil }
        guard resolved.cache.reads.contains(.diskProcessed) else {
            demand.note(.cacheMissed(CacheMiss(.diskProcessed, .policy)))
            return nil
        }
        let started = ContinuousClock.now
        let finished = try await withTicket(for: demand) { coordinator, ticket in
            try await coordinator.reader(of: resolved.target, resolved, ticket: ticket).finished(resolved.key)
        }
        let found = finished.flatMap { answer($0, resolved) }
        let took = ContinuousClock.now - started
        if let found {
            demand.note(.cacheHit(.diskProcessed, found.rule), took: took)
        } else {
            if let finished { showStale(finished, resolved, demand) }
            let reason = finished.map { missReason($0.http, resolved) } ?? .notThere
            demand.note(.cacheMissed(CacheMiss(.diskProcessed, reason)), took: took)
        }
        return found
    }

    // MARK: - Steps

    /// The image after its processors. Each step is a job, so that two requests whose first steps are equal share them.
    private func image(for resolved: ResolvedRequest, demand: Demand) async throws -> DecodedImage {
        let (options, rest) = resolved.steps
        guard resolved.request.wantsPreviews else {
            return try await step(resolved, options: options, processors: rest[...], demand: demand)
        }
        let previewer = Previewer(
            coders: coders(for: resolved), options: options, processors: rest,
            showsAll: resolved.request.wantsEveryPreview, clock: configuration.clock)
        return try await withPreviews(previewer, for: demand) { coordinator, inner in
            try await coordinator.step(resolved, options: options, processors: rest[...], demand: inner)
        }
    }

    private func step(
        _ resolved: ResolvedRequest, options: DecodeOptions, processors: ArraySlice<any ImageProcessor>, demand: Demand
    ) async throws -> DecodedImage {
        guard !processors.isEmpty else {
            return try await unprocessed(resolved, options: options, demand: demand)
        }
        let key = stepKey(resolved, options, processors)
        return try await steps.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            let run = coordinator.lastRun(of: processors, resolved, options)
            var image = try await coordinator.step(
                resolved, options: options, processors: processors.dropLast(run.count), demand: demand)
            let input = image.image
            let started = ContinuousClock.now
            image.image = try await coordinator.compute(for: demand) { try run.process(input, context: $0) }
            let time = ContinuousClock.now - started
            demand.note(.processed(time))
            image.process = (image.process ?? .zero) + time
            return image
        }
    }

    private func stepKey(
        _ resolved: ResolvedRequest, _ options: DecodeOptions, _ processors: ArraySlice<any ImageProcessor>
    ) -> LoadKey {
        let image = ImageKey(
            source: resolved.key.source, decode: options, processors: Array(processors),
            coders: resolved.request.coders, user: resolved.key.user)
        return LoadKey(resolved, image: image).ofStep
    }

    /// The last processors, which are done in one go: fewer of them where another load has made a part already.
    private func lastRun(
        of processors: ArraySlice<any ImageProcessor>, _ resolved: ResolvedRequest, _ options: DecodeOptions
    ) -> ArraySlice<any ImageProcessor> {
        let run = processors.lastRun
        let shared = (1..<max(1, run.count)).first {
            steps.isUnderWay(stepKey(resolved, options, processors.dropLast($0)))
        }
        return processors.suffix(shared ?? run.count)
    }

    /// The image before any processor: from memory where the request keeps it there, else decoded.
    private func unprocessed(
        _ resolved: ResolvedRequest, options: DecodeOptions, demand: Demand
    ) async throws -> DecodedImage {
        let policy = resolved.cache
        let key = ImageKey(
            source: resolved.key.source, decode: options, processors: [], coders: resolved.request.coders,
            user: resolved.key.user)
        if policy.reads.contains(.memoryOriginal), key != resolved.key,
            let kept = resolved.target.keptImage(for: key, policy: policy), let answer = answer(kept, resolved)
        {
            demand.note(.cacheHit(.memory, answer.rule))
            return DecodedImage(
                image: answer.cached.image, fetched: nil, kept: answer.cached, keptRule: answer.rule)
        }
        let made = try await decoded(resolved, options: options, demand: demand)
        if policy.writes.contains(.memoryOriginal), made.mayBeKept, made.fetched?.isOutdated(in: .memory) != true {
            let cached = CachedImage(image: made.image, encodedBytes: made.encodedBytes, http: made.http)
            resolved.target.remember(cached, for: key, expiration: policy.memoryExpiration)
        }
        return made
    }
}
