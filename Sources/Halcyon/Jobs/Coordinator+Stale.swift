import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// Images that are shown while the server is asked whether they still hold.
extension Coordinator {
    /// `load`, with what the caches have shown meanwhile, where the policy wants that.
    func loadShowingStale(_ resolved: ResolvedRequest, demand: Demand) async throws -> LoadedImage {
        guard mayShowStale(resolved) else { return try await load(resolved, demand: demand) }
        return try await load(resolved, showing: StaleWork(), demand: demand)
    }

    private func load(_ resolved: ResolvedRequest, showing work: StaleWork, demand: Demand) async throws -> LoadedImage
    {
        if let kept = resolved.target.image(for: resolved.key, policy: resolved.cache) {
            work.isOver = showStale(kept, resolved, demand)
        }
        let inner = Demand(priority: demand.priority) { event in
            switch event {
            case .stale(let stored):
                self.show(stored, work, resolved, demand)
            case .preview, .arrived:
                // Something newer is there, or will be as soon as this could be.
                work.end()
                demand.send(event)
            case .progress, .body, .note:
                demand.send(event)
            }
        }
        let link = demand.follow { inner.setPriority($0) }
        defer {
            demand.unfollow(link)
            work.end()
        }
        return try await load(resolved, demand: inner)
    }

    /// Shows a finished image that a cache has and the server must be asked about first.
    ///
    /// - Returns: whether it may be shown.
    @discardableResult
    func showStale(_ cached: CachedImage, _ resolved: ResolvedRequest, _ demand: Demand) -> Bool {
        guard mayShowStale(resolved), cached.http?.mayBeServedStale ?? true, isForThese(cached, resolved) else {
            return false
        }
        demand.send(.preview(ImagePreview(cached.image, isStale: true)))
        return true
    }

    private func mayShowStale(_ resolved: ResolvedRequest) -> Bool {
        resolved.cache.showsStale && resolved.isRemote && resolved.cache.allowsNetwork
            && !requestControl(resolved).onlyIfCached
    }

    /// Decodes what the disk has beside the transfer, and shows it unless that is over by then.
    private func show(_ stored: StoredOriginal, _ work: StaleWork, _ resolved: ResolvedRequest, _ demand: Demand) {
        guard !work.isOver, work.task == nil, stored.mayBeServedStale else { return }
        work.task = Task {
            // What is wrong with it, the load itself will say.
            guard let image = try? await self.image(of: stored, resolved, demand), !work.isOver else { return }
            demand.send(.preview(ImagePreview(image, isStale: true)))
        }
    }

    private func image(
        of stored: StoredOriginal, _ resolved: ResolvedRequest, _ demand: Demand
    ) async throws -> Image {
        let (coders, (options, processors)) = (coders(for: resolved), resolved.steps)
        let plan = try await compute(for: demand) { _ in try coders.plan(stored.data, options: options) }
        let image = try await compute(for: demand, reserving: plan.workingBytes, of: coders.budget) {
            try coders.decode(stored.data, plan: plan, context: $0)
        }
        guard !processors.isEmpty else { return image }
        return try await compute(for: demand) { context in
            try processors.process(image, context: context)
        }
    }
}
