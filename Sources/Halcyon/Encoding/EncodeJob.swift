import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// The production of an encoded image: the source's own bytes, or an encoding from disk, otherwise one made from the
/// finished image.
@JobActor
struct EncodeJob {
    let resolved: ResolvedRequest
    let encoding: ImageEncoding
    let subscription: Subscription

    /// Returns the encoded image, by a job that is shared by all callers that ask for it at the same time.
    static func answer(
        to resolved: ResolvedRequest, as encoding: ImageEncoding, for subscription: Subscription
    ) async throws -> EncodedAnswer {
        let request = try request(resolved, encoding)
        let key = EncodeKey(load: LoadKey(request), encoding: encoding)
        let answer = try await request.coordinator.encodes.value(for: key, subscription) {
            let job = EncodeJob(resolved: request, encoding: encoding, subscription: $0)
            return switch encoding.kind {
            case .original: try await job.original()
            case .encoded(let candidates): try await job.encoded(candidates)
            case .transcoded(let format, let effort): try await job.transcoded(to: format, effort)
            }
        }
        if request.cachePolicy.waitsForStore { await ImageStore(request).drain() }
        return answer
    }

    nonisolated private static func request(_ resolved: ResolvedRequest, _ encoding: ImageEncoding) throws
        -> ResolvedRequest
    {
        try resolved.request.validate()
        return (encoding.isOfSource ? resolved.ofSource : resolved).changing { $0.showsNothing() }
    }

    /// Returns the answer that a cache has, as long as it may be used without asking anybody.
    nonisolated static func keptAnswer(
        to resolved: ResolvedRequest, as encoding: ImageEncoding, ticket: WorkTicket
    ) async throws -> EncodedAnswer? {
        let request = try request(resolved, encoding)
        let check = FreshnessCheck(request)
        guard case .original = encoding.kind else {
            guard let kept = await EncodedSlots.find(request, encoding, ticket: ticket)?.found?.kept,
                case .answers(let rule) = check.verdict(on: kept.provenance.http)
            else { return nil }
            return kept.used(by: rule, http: kept.provenance.http)
        }
        let mark = request.originals.changes.mark(request.key)
        guard let stored = await FetchedData.stored(for: request, ticket: ticket),
            case .answers(let rule) = check.verdict(on: stored.provenance.http)
        else { return nil }
        let (coders, options) = (request.coders, request.request.decode)
        let info = try await request.coordinator.threads.run(ticket: ticket) { context in
            try coders.plan(stored.data, options: options, context: context).info
        }
        return answer(stored.used(by: rule, mark: mark), info)
    }

    // MARK: - The source's own bytes

    private func original() async throws -> EncodedAnswer {
        let (fetched, info) = try await provenBytes()
        return Self.answer(fetched, info)
    }

    nonisolated private static func answer(_ fetched: FetchedData, _ info: ImageInfo) -> EncodedAnswer {
        EncodedAnswer(
            data: fetched.data, mediaType: info.format.mimeType, size: info.size, provenance: fetched.provenance)
    }

    /// Returns the source's bytes, once their header has proved to be that of an image within the limits.
    private func provenBytes() async throws -> (FetchedData, ImageInfo) {
        try await FetchJob.provenBytes(of: resolved, for: subscription) { fetched, resolved in
            let (coders, options) = (resolved.coders, resolved.request.decode)
            let info = try await subscription.compute { context in
                try coders.reporting(fetched.data) {
                    try coders.plan(fetched.data, options: options, context: context).info
                }
            }
            FetchJob.keep(fetched, of: nil, resolved, subscription)
            return (fetched, info)
        }
    }

    private func transcoded(to format: ImageFormat, _ effort: Int?) async throws -> EncodedAnswer {
        try require(format) { try $0.requireTranscoding(to: format) }
        return try await kept { try await transcoded(to: format, effort, in: $0) }
    }

    private func transcoded(
        to format: ImageFormat, _ effort: Int?, in slots: EncodedSlots?
    ) async throws -> EncodedAnswer {
        let (fetched, info) = try await provenBytes()
        // The disk has it as it is.
        guard info.format != format else { return Self.answer(fetched, info) }
        let (coders, options) = (resolved.coders, resolved.request.decode)
        let watch = Stopwatch()
        let answer: EncodedAnswer
        do {
            let plan = try await subscription.compute { context in
                try coders.transcodePlan(
                    fetched.data, info: info, to: format, effort: effort.map { Double($0) / 1000 }, options: options,
                    context: context)
            }
            answer = try await subscription.compute(reserving: plan.workingBytes, of: coders.budget) { context in
                let data = try coders.transcode(fetched.data, by: plan, context: context)
                return EncodedAnswer(
                    data: data, mediaType: format.mimeType, size: info.size,
                    sourceHash: ContentHash.text(of: fetched.data), provenance: fetched.provenance)
            }
        } catch {
            throw ImagePipelineError.encoder(error, as: format, source: resolved.source)
        }
        store(answer, of: fetched, in: slots, after: watch)
        return answer
    }

    // MARK: - An encoding

    private func encoded(_ candidates: [ImageEncoding.Candidate]) async throws -> EncodedAnswer {
        for candidate in candidates {
            try require(candidate.format) { try $0.requireEncoder(for: candidate.format, options: candidate.options) }
        }
        return try await kept { slots in
            let hasGainMap = candidates.contains { $0.options.keepsGainMap && $0.format == .jpeg }
            let keepsGainMap = hasGainMap && resolved.key.processors.keepGainMap
            let request = keepsGainMap ? resolved.decodingGainMap() : resolved
            let loaded = try await RequestLoad(resolved: request, subscription: subscription).image()
            let watch = Stopwatch()
            let answer = try await smallest(of: candidates, loaded)
            store(answer, of: loaded.fetched, in: slots, after: watch)
            return answer
        }
    }

    /// Returns the smallest of the encodings that can hold the image.
    private func smallest(
        of candidates: [ImageEncoding.Candidate], _ loaded: LoadedImage
    ) async throws -> EncodedAnswer {
        var smallest: EncodedAnswer?
        var failure: (any Error)?
        for candidate in candidates {
            do {
                let answer = try await encode(loaded, as: candidate.format, candidate.options)
                if answer.data.count < smallest?.data.count ?? .max { smallest = answer }
            } catch let error as ImagePipelineError {
                failure = failure ?? error
            }
        }
        if let smallest { return smallest }
        throw failure ?? CancellationError()
    }

    /// Checks that there are coders for a format, before anything is fetched.
    private func require(_ format: ImageFormat, _ check: (CoderRegistry) throws -> Void) throws {
        do {
            try check(resolved.coders)
        } catch {
            throw ImagePipelineError.encoder(error, as: format, source: resolved.source)
        }
    }

    /// Returns the encoding that the disk has, as long as it may be used, otherwise a new one.
    private func kept(
        or make: @JobActor (EncodedSlots?) async throws -> EncodedAnswer
    ) async throws -> EncodedAnswer {
        let watch = Stopwatch()
        let looked = await subscription.withTicket { await EncodedSlots.find(resolved, encoding, ticket: $0) }
        try Task.checkCancellation()
        let took = watch.elapsed
        var fetched: FetchedData?
        var slots = looked?.slots
        if let (slot, kept) = looked?.found {
            switch FreshnessCheck(resolved).verdict(on: kept.provenance.http) {
            case .answers(let rule):
                subscription.note(.cacheHit(.diskEncoded, rule), took: took)
                return kept.used(by: rule, http: kept.provenance.http)
            case .refused(let reason):
                subscription.note(.cacheMissed(CacheMiss(.diskEncoded, reason)), took: took)
            }
            switch try await confirmed(kept, in: slot) {
            case .answer(let answer): return answer
            case .outdated(let data, let renewed):
                fetched = data
                slots?.renew(renewed)
            case .unknown: break
            }
        } else if looked != nil {
            let reads = !resolved.cachePolicy.reads.isDisjoint(with: .disk)
            subscription.note(.cacheMissed(CacheMiss(.diskEncoded, reads ? .notFound : .policy)), took: took)
            if reads, let answer = await claimed(&slots) { return answer }
            try Task.checkCancellation()
        }
        let answer = try await make(slots)
        // Retained until here, so that the load finds the bytes that were fetched for the comparison.
        withExtendedLifetime(fetched) {}
        return answer
    }

    /// Asks for the right to make the encoding, where processes share a store.
    ///
    /// - Returns: the encoding, if another process has made it meanwhile.
    private func claimed(_ slots: inout EncodedSlots?) async -> EncodedAnswer? {
        // Others would wait in vain for a request that must not make it, or store it for them.
        let policy = resolved.cachePolicy
        guard policy.allowsNetwork, !policy.writes.isDisjoint(with: .disk), resolved.key.user == nil,
            await slots?.isStoredByOthers() == true
        else { return nil }
        let watch = Stopwatch()
        let looked = await subscription.withTicket { await EncodedSlots.find(resolved, encoding, ticket: $0) }
        guard let kept = looked?.found?.kept,
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: kept.provenance.http)
        else { return nil }
        subscription.note(.cacheHit(.diskEncoded, rule), took: watch.elapsed)
        return kept.used(by: rule, http: kept.provenance.http)
    }

    private enum Confirmation {
        case answer(EncodedAnswer)
        /// The source's bytes have changed.
        case outdated(FetchedData, EncodedSlot)
        case unknown
    }

    /// Revalidates an encoding by fetching the source's own bytes: as long as those are the same, the encoding of them
    /// is good, and nothing is decoded.
    private func confirmed(_ kept: EncodedAnswer, in slot: EncodedSlot) async throws -> Confirmation {
        let check = FreshnessCheck(resolved)
        guard resolved.cachePolicy.reads.contains(.diskOriginal), let hash = kept.sourceHash,
            check.matchesVaryingFields(kept.provenance.http)
        else { return .unknown }
        let fetched: FetchedData
        do {
            fetched = try await FetchJob.bytes(of: resolved, for: subscription)
        } catch let error as DownloadError {
            guard let rule = FreshnessCheck(resolved).rule(for: kept.provenance.http, after: error) else { throw error }
            return .answer(kept.used(by: rule, http: kept.provenance.http))
        }
        let isSame = try await subscription.compute { _ in ContentHash.text(of: fetched.data) == hash }
        guard isSame else {
            // The other encodings were made from the former bytes as well.
            return .outdated(fetched, await slot.breakSeal(resolved))
        }
        // The bytes have proved to be an image before.
        FetchJob.keep(fetched, of: nil, resolved, subscription)
        let (http, mayBeKept) = (fetched.provenance.http, fetched.provenance.mayBeKept)
        if mayBeKept {
            await slot.refresh(kept, http: http, resolved.cachePolicy)
        } else {
            await slot.entries.forget(slot.key)
        }
        return .answer(kept.used(by: fetched.provenance.rule, http: http, mayBeKept: mayBeKept))
    }

    private func encode(
        _ loaded: LoadedImage, as format: ImageFormat, _ options: EncodeOptions
    ) async throws -> EncodedAnswer {
        try Task.checkCancellation()
        let (coders, image, bytes, provenance) = (
            resolved.coders, loaded.image, loaded.fetched?.bytes, loaded.provenance
        )
        do {
            // The reservation is at least about an encoder's own copy of the pixels, and no more than the capacity, so
            // that an image in memory is encoded however small the budget is. The frames of an animation are still to
            // be decoded.
            let working = max(
                try coders.workingBytes(toEncode: image, as: format, options: options) ?? 0,
                min(image.bitmap.byteCount, coders.budget.capacity))
            return try await subscription.compute(reserving: working, of: coders.budget) { context in
                let data = try coders.encodeReserved(image, as: format, options: options, context: context)
                // The options may have reduced the size.
                let size = options.maximumSide == nil ? image.size : (try? coders.probe(data).size) ?? image.size
                return EncodedAnswer(
                    data: data, mediaType: format.mimeType, size: size,
                    sourceHash: bytes.map { ContentHash.text(of: $0) }, provenance: provenance)
            }
        } catch {
            throw ImagePipelineError.encoder(error, as: format, source: resolved.source)
        }
    }

    /// Stores an encoding that was made of these bytes, unless newer ones have arrived.
    private func store(
        _ answer: EncodedAnswer, of fetched: FetchedData?, in slots: EncodedSlots?, after watch: Stopwatch
    ) {
        subscription.note(.encoded(bytes: answer.data.count, watch.elapsed))
        let isOutdated = fetched?.isOutdated(in: .disk) ?? false
        let provenance = answer.provenance
        if let slot = slots?.slot(of: provenance.http), provenance.mayBeKept, !isOutdated, slot.store(answer, resolved)
        {
            subscription.note(.stored(.diskEncoded))
        }
    }
}
