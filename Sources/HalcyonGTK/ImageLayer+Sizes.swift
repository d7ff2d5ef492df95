import Halcyon

// At which size a layer's image is loaded.
extension ImageLayer {
    /// A load that has been asked for and cannot begin yet.
    @MainActor struct WaitingLoad {
        /// What the caches have does not count.
        var asksServer = false
        /// What is shown or failed, once more.
        var isReload = false
        /// The very image that is shown: nothing is told of but its end.
        var isAgain = false
        var completion: (@MainActor (ImageTarget.End) -> Void)?

        func end(_ end: ImageTarget.End) { completion?(end) }
    }

    func load(_ load: WaitingLoad) {
        let waits = sizing.waits(for: host.pixels)
        guard let wish = sizing.wish, var request = sizing.request(for: host, fit: loadedFit) else { return }
        isRenewed = false
        if !isShown { updatePriority() }
        guard waits else {
            var options = wish.options
            if load.isAgain { (options.keepsCurrent, options.transition, options.isRenewal) = (true, nil, true) }
            if hasStandIn { (options.keepsCurrent, options.transition) = (true, nil) }
            endStandIn()
            if load.asksServer { request.cache.reads = [] }
            if load.isReload { return target.reload(as: request, completion: load.completion) }
            return target.setImage(request, options: options, pipeline: wish.pipeline) { [weak self] end in
                if load.isAgain { self?.renewalEnded(end) }
                load.completion?(end)
            }
        }
        waiting = load
        // Whatever is in memory; nothing is loaded for it.
        let standIn = wish.pipeline.responseInMemory(for: request)
        hasStandIn = standIn != nil
        host.standsIn(for: self, hasStandIn)
        target.await(wish.options, standIn: standIn)
    }

    /// The view has another size in pixels than before.
    func resized() {
        if let waiting = takeWaiting() { return load(waiting) }
        // Not again for each step of a resize.
        guard isOutgrown else { return settling.stop() }
        settle()
    }

    var isOutgrown: Bool { sizing.isOutgrown(by: host.pixels, fit: loadedFit) }

    func settle() {
        settling.start(after: .milliseconds(200)) { [weak self] in self?.outgrown() }
    }

    private func outgrown() {
        // A load that is under way is not broken off for a larger one.
        if case .loading = target.state { return settle() }
        guard sizing.isWishShown, isOutgrown, !isWhole, let wish = sizing.wish,
            let request = sizing.request(for: host, fit: loadedFit)
        else { return }
        isRenewed = true
        var options = wish.options
        (options.keepsCurrent, options.transition, options.isRenewal) = (true, nil, true)
        target.setImage(request, options: options, pipeline: wish.pipeline) { [weak self] in self?.renewalEnded($0) }
    }

    private func renewalEnded(_ end: ImageTarget.End) {
        switch end {
        // What is shown is as small as it was: the next resize tries again.
        case .failed, .cancelled: sizing.revert()
        case .shown, .superseded: break
        }
    }

    func endStandIn() {
        hasStandIn = false
        host.standsIn(for: self, false)
    }

    /// A view that shows a part of what it is laid out for is given the whole.
    var loadedFit: ContentFit { host.box == nil ? contentFit : .contain }

    /// All of its pixels are seen: no size has more.
    private var isWhole: Bool {
        guard case .image(let response) = target.content else { return false }
        return response.image.size == response.image.info.size && !response.image.info.isVector
    }
}
