import HalcyonCache
import HalcyonImage
import HalcyonSystem

/// The load of an image that is not in memory: the finished image is read from disk, otherwise made by the steps and
/// then stored.
@JobActor
struct LoadJob {
    let resolved: ResolvedRequest
    let subscription: Subscription
    private let early: EarlyImages

    private init(_ resolved: ResolvedRequest, _ subscription: Subscription) {
        self.resolved = resolved
        self.subscription = subscription
        early = EarlyImages(resolved, for: subscription)
    }

    /// Returns the image, by a job that is shared by all callers that ask for it at the same time.
    static func image(of resolved: ResolvedRequest, for subscription: Subscription) async throws -> LoadedImage {
        try await resolved.coordinator.loads.value(for: LoadKey(resolved), subscription) {
            try await LoadJob(resolved, $0).run()
        }
    }

    /// Joins the same job without a task that waits for it.
    ///
    /// - Parameter end: called once, as by `JobPool.join`.
    static func join(
        for resolved: ResolvedRequest, _ subscription: Subscription,
        end: @escaping @JobActor (Result<LoadedImage, any Error>) -> Void
    ) {
        resolved.coordinator.loads.join(
            LoadKey(resolved), subscription, work: { try await LoadJob(resolved, $0).run() }, end: end)
    }

    private func run() async throws -> LoadedImage {
        defer { early.end() }
        early.showStaleInMemory()
        let mark = resolved.originals.changes.mark(resolved.key)
        if let finished = try await finishedOnDisk() {
            if !mark.isOutdated(in: .memory) { remember(finished) }
            return finished
        }
        let (options, processors) = resolved.steps
        let made = try await StepJob.image(
            of: resolved, options: options, processors: processors[...], for: early.subscription)
        await store(made, since: mark)
        return made
    }

    // MARK: - Disk

    private func finishedOnDisk() async throws -> LoadedImage? {
        guard resolved.hasEntryOfItsOwn, resolved.mayUse(.diskProcessed), resolved.target.entries != nil else {
            return nil
        }
        guard resolved.cachePolicy.reads.contains(.diskProcessed) else {
            subscription.note(.cacheMissed(CacheMiss(.diskProcessed, .policy)))
            return nil
        }
        let watch = Stopwatch()
        let finished = try await subscription.withTicket {
            try await DiskImageReader(resolved.target, resolved, ticket: $0).finished(resolved.key)
        }
        let took = watch.elapsed
        guard let finished else {
            subscription.note(.cacheMissed(CacheMiss(.diskProcessed, .notFound)), took: took)
            return nil
        }
        switch FreshnessCheck(resolved).verdict(on: finished.http) {
        case .answers(let rule):
            subscription.note(.cacheHit(.diskProcessed, rule), took: took)
            return LoadedImage(finished, rule: rule, origin: .disk)
        case .refused(let reason):
            early.showStale(finished)
            subscription.note(.cacheMissed(CacheMiss(.diskProcessed, reason)), took: took)
            return nil
        }
    }

    // MARK: - Store

    private func store(_ made: LoadedImage, since mark: SourceMark) async {
        let (target, originals) = (resolved.target, resolved.originals)
        if made.provenance.mayBeKept {
            if !made.isOutdated(in: .memory, since: mark) { remember(made) }
            if !made.isOutdated(in: .disk, since: mark), ImageStore(resolved).storeFinished(made) {
                subscription.note(.stored(.diskProcessed))
            }
            if resolved.cachePolicy.reads.isEmpty, made.provenance.origin.isNew, resolved.key.isProcessed {
                // A reload: other processors must not start from the image that was there before.
                target.forgetUnprocessed(resolved.key, policy: resolved.cachePolicy)
            }
            if resolved.cachePolicy.reads.isEmpty, made.provenance.origin.isNew {
                // The image with a gain map is of the former source if this one is without, and the other way round.
                ImageStore(resolved).forgetOther(made)
            }
        } else if made.provenance.http?.noStore == true {
            // The server no longer allows the answer that was stored before to be kept.
            await target.remove(resolved.key, [.memory, .disk])
            if originals !== target { await originals.remove(resolved.key, [.memory, .disk]) }
        }
    }

    private func remember(_ loaded: LoadedImage) {
        guard resolved.cachePolicy.writes.contains(.memory) else { return }
        resolved.target.remember(loaded.cached, for: resolved.key, expiration: resolved.cachePolicy.memoryExpiration)
        subscription.note(.stored(.memory))
    }
}
