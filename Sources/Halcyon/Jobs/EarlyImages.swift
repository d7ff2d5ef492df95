import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// The images that a load shows before its result: stale ones from the caches, and previews of the arriving bytes.
@JobActor
final class EarlyImages {
    /// The load's subscription to its steps. Their stale answers and bodies become images here.
    private(set) var subscription: Subscription

    private let resolved: ResolvedRequest
    private let load: Subscription
    private var previewer: Previewer?
    private var staleWork: Task<Void, Never>?
    private var showsStale: Bool

    init(_ resolved: ResolvedRequest, for load: Subscription) {
        self.resolved = resolved
        self.load = load
        subscription = load
        showsStale = resolved.mayShowStale
        guard showsStale || resolved.request.wantsPreviews else { return }
        let own = Subscription(priority: load.priority, threads: load.threads) { [weak self] in self?.take($0) }
        load.add(own)
        subscription = own
        if resolved.request.wantsPreviews {
            let (options, processors) = resolved.steps
            let configuration = resolved.coordinator.configuration
            previewer = Previewer(
                coders: resolved.coders, options: options, processors: processors, previews: configuration.previews,
                showsAll: resolved.request.wantsEveryPreview, clock: configuration.clock)
        }
    }

    /// Ends all early images: the load has its image, or has no subscribers left.
    func end() {
        load.remove(subscription)
        endStale()
        previewer?.end()
    }

    private func take(_ event: JobEvent) {
        switch event {
        case .stale(let stored):
            show(stored)
        case .body(let body):
            previewer?.take(body)
            showPreview()
        case .arrived:
            endStale()
            previewer?.end()
        case .progress(let progress):
            previewer?.expectedBytes = progress.expected
            load.send(event)
        case .preview, .delivered, .note:
            load.send(event)
        }
    }

    // MARK: - Stale images

    /// Shows the image in memory, which the server must revalidate first.
    func showStaleInMemory() {
        guard showsStale, let cached = resolved.target.image(for: resolved.key, policy: resolved.cachePolicy) else {
            return
        }
        showStale(cached)
    }

    /// Shows a finished image from a cache, if the rules allow it. The caches have nothing newer.
    func showStale(_ cached: CachedImage) {
        guard showsStale, FreshnessCheck(resolved).mayShowStale(cached.http) else { return }
        endStale()
        load.send(.preview(ImagePreview(cached.image, isStale: true)))
    }

    /// Decodes the bytes from the disk beside the transfer, and shows the image unless something newer has arrived by
    /// then.
    private func show(_ stored: FetchedData) {
        guard showsStale, staleWork == nil, stored.provenance.mayBeServedStale else { return }
        staleWork = Task {
            // The load itself reports an error in these bytes.
            guard let image = try? await image(of: stored), showsStale else { return }
            load.send(.preview(ImagePreview(image, isStale: true)))
        }
    }

    private func image(of stored: FetchedData) async throws -> Image {
        let (coders, processors) = (resolved.coders, resolved.steps.processors)
        var options = resolved.steps.decode
        options.allowsIncomplete = false
        let plan = try await load.compute { [options] in
            try coders.plan(stored.data, options: options, context: $0)
        }
        let image = try await load.compute(reserving: plan.workingBytes, of: coders.budget) {
            try coders.decode(stored.data, plan: plan, context: $0)
        }
        guard !processors.isEmpty else { return image }
        return try await load.compute { try processors.process(image, context: $0) }
    }

    private func endStale() {
        showsStale = false
        staleWork?.cancel()
    }

    // MARK: - Previews

    private func showPreview() {
        guard let previewer, let step = previewer.nextStep() else { return }
        let body = previewer.body
        previewer.work = Task {
            do {
                let result = try await load.compute { try step.make($0) }
                previewer.add(result)
                // No preview of an attempt that has failed since, nor after the image itself.
                if let image = result.image, previewer.body == body, !Task.isCancelled {
                    endStale()
                    load.send(.preview(image))
                }
            } catch {
                previewer.fail(body)
            }
            previewer.work = nil
            // More bytes may have arrived since.
            if !Task.isCancelled { showPreview() }
        }
    }
}
