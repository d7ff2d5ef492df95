import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// A run of processors over the image that the preceding steps make.
@JobActor
struct StepJob {
    let resolved: ResolvedRequest
    let options: DecodeOptions
    /// The processors up to this step, at least one.
    let processors: ArraySlice<any ImageProcessor>
    let subscription: Subscription

    /// Returns the image after `processors`, by a job that is shared by all callers that ask for it at the same time.
    static func image(
        of resolved: ResolvedRequest, options: DecodeOptions, processors: ArraySlice<any ImageProcessor>,
        for subscription: Subscription
    ) async throws -> LoadedImage {
        guard !processors.isEmpty else {
            return try await DecodeJob(resolved: resolved, options: options, subscription: subscription).image()
        }
        let key = key(resolved, options, processors)
        return try await resolved.coordinator.steps.value(for: key, subscription) {
            try await StepJob(resolved: resolved, options: options, processors: processors, subscription: $0).run()
        }
    }

    private func run() async throws -> LoadedImage {
        let run = lastRun
        var image = try await Self.image(
            of: resolved, options: options, processors: processors.dropLast(run.count), for: subscription)
        let (input, watch) = (image.image, Stopwatch())
        do {
            image.image = try await subscription.compute { try run.process(input, context: $0) }
        } catch {
            throw ImagePipelineError.processor(error, source: resolved.source)
        }
        let time = watch.elapsed
        subscription.note(.processed(time))
        image.process = (image.process ?? .zero) + time
        return image
    }

    /// The last processors, which run in one piece of work: fewer of them if another load is already making the image
    /// before them.
    private var lastRun: ArraySlice<any ImageProcessor> {
        let run = processors.lastRun
        let shared = (1..<max(1, run.count)).first {
            resolved.coordinator.steps.isUnderWay(Self.key(resolved, options, processors.dropLast($0)))
        }
        return processors.suffix(shared ?? run.count)
    }

    private static func key(
        _ resolved: ResolvedRequest, _ options: DecodeOptions, _ processors: ArraySlice<any ImageProcessor>
    ) -> LoadKey {
        LoadKey(resolved, image: resolved.key(decode: options, processors: Array(processors))).ofStep
    }
}

/// The image before any processor: from memory if the request keeps it there, otherwise decoded from the source's
/// bytes.
@JobActor
struct DecodeJob {
    let resolved: ResolvedRequest
    let options: DecodeOptions
    let subscription: Subscription

    func image() async throws -> LoadedImage {
        let policy = resolved.cachePolicy
        let key = resolved.key(decode: options, processors: [])
        if policy.reads.contains(.memoryOriginal), key != resolved.key,
            let kept = resolved.target.keptImage(for: key, policy: policy),
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: kept.http)
        {
            subscription.note(.cacheHit(.memory, rule))
            return LoadedImage(kept, rule: rule, origin: .memory)
        }
        let made = try await FetchJob.provenBytesOrImage(of: resolved, for: subscription, decoded)
        if policy.writes.contains(.memoryOriginal), made.provenance.mayBeKept,
            made.fetched?.isOutdated(in: .memory) != true
        {
            resolved.target.remember(made.cached, for: key, expiration: policy.memoryExpiration)
        }
        return made
    }

    /// Decodes the bytes, by a job that is shared by all loads with these bytes and the same plan.
    private func decoded(_ fetched: FetchedData, _ resolved: ResolvedRequest) async throws -> LoadedImage {
        try Task.checkCancellation()
        subscription.send(.arrived)
        if let image = fetched.made { return try await reduced(image, fetched, resolved) }
        let (coders, options, watch) = (resolved.coders, allowedOptions(for: fetched), Stopwatch())
        let generation = coders.generation
        let plan = try await subscription.compute { context in
            try coders.reporting(fetched.data) { try coders.plan(fetched.data, options: options, context: context) }
        }
        let key = DecodeKey(fetched, coders, generation, plan)
        let made = try await resolved.coordinator.decodes.value(for: key, subscription) { subscription in
            let image = try await subscription.compute(reserving: plan.workingBytes, of: coders.budget) { context in
                try coders.reporting(fetched.data) { try coders.decode(fetched.data, plan: plan, context: context) }
            }
            let time = watch.elapsed
            subscription.note(.decoded(image.size, time))
            return LoadedImage(image, of: fetched, decode: time)
        }
        guard !made.image.info.isPreview else {
            // A caller that asks again needs other bytes, and no cache keeps these.
            resolved.coordinator.recentFetches.forget(fetched, FetchKey(resolved))
            return made
        }
        if fetched.provenance.origin == .network, let key = FailureMemory.Key(resolved) {
            resolved.coordinator.failures.forget(key)
        }
        FetchJob.keep(fetched, of: made.image, resolved, subscription)
        return made
    }

    /// Does with the image of a provider as a decode would with its file.
    private func reduced(
        _ image: MadeImage, _ fetched: FetchedData, _ resolved: ResolvedRequest
    ) async throws -> LoadedImage {
        let (coders, format) = (resolved.coders, image.image.info.format)
        let plan = try CodecError.reporting(format) { try image.plan(options) }
        let key = DecodeKey(fetched, coders, coders.generation, plan)
        let made = try await resolved.coordinator.decodes.value(for: key, subscription) { subscription in
            let working = image.workingBytes(by: plan)
            let reduced = try await subscription.compute(reserving: working, of: coders.budget) { context in
                try CodecError.reporting(format) { try image.image(by: plan, context: context) }
            }
            return LoadedImage(reduced, of: fetched, decode: nil)
        }
        FetchJob.keep(fetched, of: made.image, resolved, subscription)
        return made
    }

    /// Returns the options for decoding bytes. A cache keeps whole files only, so one that is not is replaced, not shown.
    private func allowedOptions(for fetched: FetchedData) -> DecodeOptions {
        var options = options
        if [.disk, .revalidated, .stale].contains(fetched.provenance.origin) { options.allowsIncomplete = false }
        return options
    }
}

extension ResolvedRequest {
    /// Returns the key of the image that another decode and other processors make from the same source.
    func key(decode: DecodeOptions, processors: [any ImageProcessor]) -> ImageKey {
        ImageKey(
            source: key.source, decode: decode, processors: processors, coders: request.coders, user: key.user)
    }
}
