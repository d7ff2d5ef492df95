import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The image before any processor: from memory if the request keeps it there, otherwise decoded from the source's
/// bytes.
@JobActor
struct DecodeJob {
    let resolved: ResolvedRequest
    let options: DecodeOptions
    let subscription: Subscription

    func image() async throws -> LoadedImage {
        let policy = resolved.cache
        let key = resolved.key(decode: options, processors: [])
        if policy.reads.contains(.memoryOriginal), key != resolved.key,
            let kept = resolved.target.keptImage(for: key, policy: policy),
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: kept.http)
        {
            subscription.note(.cacheHit(.memory, rule))
            return LoadedImage(kept, rule: rule, origin: .memory)
        }
        let made = try await FetchJob.provenBytes(of: resolved, for: subscription, decoded)
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
        let (coders, options, watch) = (resolved.coders, options, Stopwatch())
        let plan = try await subscription.compute { _ in try coders.plan(fetched.data, options: options) }
        let key = DecodeKey(data: ObjectIdentifier(fetched), coders: ObjectIdentifier(coders), plan: plan)
        let made = try await resolved.coordinator.decodes.value(for: key, subscription) { subscription in
            let image = try await subscription.compute(reserving: plan.workingBytes, of: coders.budget) {
                try coders.decode(fetched.data, plan: plan, context: $0)
            }
            let time = watch.elapsed
            subscription.note(.decoded(image.size, time))
            return LoadedImage(image, of: fetched, decode: time)
        }
        if fetched.provenance.origin == .network, let key = FailureMemory.Key(resolved) {
            resolved.coordinator.failures.forget(key)
        }
        FetchJob.keep(fetched, of: made.image, resolved, subscription)
        return made
    }
}
