import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// Images as they are sent.
extension Coordinator {
    /// The encoded image of a request, with what a response says of it.
    func encodedImage(_ resolved: ResolvedRequest, as encoding: ImageEncoding) async throws -> EncodedImage {
        let ((answer, source), metrics) = try await recorded(
            resolved.source, priority: resolved.request.priority,
            result: { ($0.answer.origin, $0.answer.rule, $0.answer.data.count) }
        ) { coordinator, demand in
            try await coordinator.encoded(resolved, as: encoding, demand: demand)
        }
        let freshness = EncodedFreshness(
            answer.http, isNotStored: !answer.mayBeKept, isOfUser: resolved.key.user != nil,
            now: configuration.clock.now)
        return EncodedImage(
            data: answer.data, mediaType: answer.mediaType, size: answer.size, etag: answer.etag,
            freshness: freshness, origin: answer.origin, source: source, cacheRule: answer.rule, metrics: metrics)
    }

    /// As one of possibly many who ask.
    private func encoded(
        _ resolved: ResolvedRequest, as encoding: ImageEncoding, demand: Demand
    ) async throws -> (answer: EncodedAnswer, source: ImageSource) {
        try await withAlternatives(to: resolved, demand: demand) { coordinator, resolved, demand in
            try coordinator.validate(resolved.request)
            let request = resolved.changing { $0.showsNothing() }
            let key = EncodeKey(load: LoadKey(request, image: request.key), encoding: encoding)
            let answer = try await coordinator.encodes.value(
                for: key, demand: demand, isolation: coordinator
            ) { coordinator, demand in
                switch encoding.kind {
                case .original: try await coordinator.originalAnswer(request, demand: demand)
                case .encoded(let format, let options):
                    try await coordinator.answer(request, as: format, options: options, demand: demand)
                }
            }
            if request.cache.waitsForStore { await coordinator.waitForStores(request) }
            return (answer, resolved.source)
        }
    }

    private func answer(
        _ resolved: ResolvedRequest, as format: ImageFormat, options: EncodeOptions, demand: Demand
    ) async throws -> EncodedAnswer {
        // Before anything is fetched for it.
        guard coders(for: resolved).canEncode(format) else {
            throw encodingError(CodecError.unsupportedFormat(format), as: format, resolved)
        }
        let started = ContinuousClock.now
        let looked = await withTicket(for: demand) {
            await $0.encodedPlaces(resolved, format, options, ticket: $1)
        }
        try Task.checkCancellation()
        let took = ContinuousClock.now - started
        var fetched: FetchedData?
        var places = looked?.places
        if let (place, kept) = looked?.found {
            let (isFresh, rule) = mayAnswer(kept.http, resolved)
            if isFresh {
                demand.note(.cacheHit(.diskEncoded, rule), took: took)
                return EncodedAnswer(kept, rule: rule)
            }
            demand.note(.cacheMissed(CacheMiss(.diskEncoded, missReason(kept.http, resolved))), took: took)
            switch try await confirmed(kept, resolved, in: place, demand: demand) {
            case .answer(let answer): return answer
            case .outdated(let data, let renewed):
                fetched = data
                places?.renew(renewed)
            case .unknown: break
            }
        } else if looked != nil {
            let reads = !resolved.cache.reads.isDisjoint(with: .disk)
            demand.note(.cacheMissed(CacheMiss(.diskEncoded, reads ? .notThere : .policy)), took: took)
        }
        let loaded = try await loadedForEncoding(resolved, demand: demand)
        // Until here, so that the load finds the bytes that were fetched to compare them.
        withExtendedLifetime(fetched) {}
        return try await encode(loaded, resolved, as: format, options: options, places: places, demand: demand)
    }

    /// Whether what is kept may answer as it is, and the rule that says so.
    private func mayAnswer(_ http: HTTPCacheMetadata?, _ resolved: ResolvedRequest) -> (Bool, CacheRule?) {
        guard resolved.isRemote else { return (true, nil) }
        if resolved.cache.freshness == .ignore { return (true, .ignored) }
        guard let rule = freshnessCheck(resolved).rule(for: http),
            http?.matches(requestHeaders: sentHeaders(resolved)) ?? true
        else { return (false, nil) }
        return (true, rule)
    }

    private enum Confirmation {
        case answer(EncodedAnswer)
        /// The source's bytes are others now.
        case outdated(FetchedData, EncodedPlace)
        case unknown
    }

    /// Asks the source's server, by way of the source's own bytes: as long as those are the same, what was encoded of
    /// them is good, and nothing is decoded.
    private func confirmed(
        _ kept: KeptEncoding, _ resolved: ResolvedRequest, in place: EncodedPlace, demand: Demand
    ) async throws -> Confirmation {
        guard resolved.cache.reads.contains(.diskOriginal), let hash = kept.sourceHash,
            kept.http?.matches(requestHeaders: sentHeaders(resolved)) ?? true
        else { return .unknown }
        let fetched: FetchedData
        do {
            fetched = try await self.fetched(resolved, demand: demand)
        } catch let error as DownloadError {
            guard let rule = freshnessCheck(resolved).rule(for: kept.http, after: error) else { throw error }
            return .answer(EncodedAnswer(kept, rule: rule))
        }
        let isSame = try await compute(for: demand) { _ in ContentHash.text(of: fetched.data) == hash }
        guard isSame else {
            // The others were made of the former bytes as well.
            return .outdated(fetched, await breakSeal(place, resolved))
        }
        // They have proved to be an image before.
        keep(fetched, of: nil, resolved, demand: demand)
        forgetFetch(fetched, FetchKey(resolved))
        var fresh = kept
        fresh.http = fetched.http
        if fetched.mayBeKept {
            await refresh(kept, http: fetched.http, in: place, resolved.cache)
        } else {
            await place.disk.remove(place.key)
        }
        return .answer(EncodedAnswer(fresh, rule: fetched.rule, mayBeKept: fetched.mayBeKept))
    }

    private func loadedForEncoding(_ resolved: ResolvedRequest, demand: Demand) async throws -> LoadedImage {
        let started = ContinuousClock.now
        let answer = answerInMemory(resolved)
        let took = ContinuousClock.now - started
        if let answer {
            demand.note(.cacheHit(.memory, answer.rule), took: took)
            return LoadedImage(answer, origin: .memory)
        }
        noteMemoryMiss(resolved, demand, took: took)
        let key = LoadKey(resolved, image: resolved.key)
        return try await loads.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            try await coordinator.load(resolved, demand: demand)
        }
    }

    private func encode(
        _ loaded: LoadedImage, _ resolved: ResolvedRequest, as format: ImageFormat, options: EncodeOptions,
        places: EncodedPlaces?, demand: Demand
    ) async throws -> EncodedAnswer {
        try Task.checkCancellation()
        let coders = coders(for: resolved)
        let (image, bytes, started) = (loaded.image, loaded.fetched?.data, ContinuousClock.now)
        let made: (data: Data, size: PixelSize, sourceHash: String?)
        do {
            // At least about an encoder's own copy of the pixels: an image that is in memory is encoded however small the
            // budget is. The frames of an animation are still to be decoded.
            let working = max(
                try coders.workingBytes(toEncode: image, as: format, options: options) ?? 0,
                min(image.bitmap.byteCount, coders.budget.capacity))
            made = try await compute(for: demand, reserving: working, of: coders.budget) { context in
                let data = try coders.encodeReserved(image, as: format, options: options, context: context)
                // The options may have made it smaller.
                let size = options.maximumSide == nil ? image.size : (try? coders.probe(data).size) ?? image.size
                return (data, size, bytes.map { ContentHash.text(of: $0) })
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw encodingError(error, as: format, resolved)
        }
        demand.note(.encoded(bytes: made.data.count, ContinuousClock.now - started))
        let mayBeKept = loaded.fetched?.mayBeKept ?? true
        let isOutdated = loaded.fetched?.isOutdated(in: .disk) ?? false
        if let place = places?.place(of: loaded.http), mayBeKept, !isOutdated {
            let kept = KeptEncoding(
                data: made.data, mediaType: format.mimeType, size: made.size, seal: place.seal,
                sourceHash: made.sourceHash, http: loaded.http)
            if storeEncoded(kept, resolved, in: place) { demand.note(.stored(.diskEncoded)) }
        }
        return EncodedAnswer(
            data: made.data, mediaType: format.mimeType, size: made.size, http: loaded.http, origin: loaded.origin,
            rule: loaded.rule, mayBeKept: mayBeKept)
    }

    private func encodingError(
        _ error: any Error, as format: ImageFormat, _ resolved: ResolvedRequest
    ) -> ImagePipelineError {
        .encoding(
            source: resolved.source.description,
            error as? CodecError ?? .encodingFailed(format, reason: "\(error)"))
    }

    // MARK: - The source's own bytes

    private func originalAnswer(_ resolved: ResolvedRequest, demand: Demand) async throws -> EncodedAnswer {
        let fetched = try await fetched(resolved, demand: demand)
        do {
            return try await proven(fetched, resolved, demand: demand)
        } catch let error as CodecError where fetched.origin != .network && error.blamesBytes && resolved.isRemote {
            await removeOriginal(resolved)
            guard resolved.cache.allowsNetwork else { throw error }
            let again = resolved.changing { $0.cache.reads.remove(.diskOriginal) }
            return try await proven(try await self.fetched(again, demand: demand), again, demand: demand)
        }
    }

    /// Bytes whose head is that of an image within the limits.
    private func proven(
        _ fetched: FetchedData, _ resolved: ResolvedRequest, demand: Demand
    ) async throws -> EncodedAnswer {
        let coders = coders(for: resolved)
        let limits = resolved.request.decode.limits
        let info: ImageInfo
        do {
            info = try await compute(for: demand) { _ in
                try coders.plan(fetched.data, options: DecodeOptions(limits: limits)).info
            }
        } catch {
            rememberDecode(of: fetched, resolved, error)
            throw error
        }
        keep(fetched, of: nil, resolved, demand: demand)
        forgetFetch(fetched, FetchKey(resolved))
        return EncodedAnswer(
            data: fetched.data, mediaType: info.format.mimeType, size: info.size, http: fetched.http,
            origin: fetched.origin, rule: fetched.rule, mayBeKept: fetched.mayBeKept)
    }
}
