import Halcyon

// At which size a layer's image is loaded.
extension ImageLayer {
    func load(_ completion: (@MainActor (ImageTarget.End) -> Void)?) {
        guard let wish = sizing.wish, let request = sizing.request(for: host, fit: contentFit) else { return }
        guard sizing.waits(for: host.pixels) else {
            var options = wish.options
            if hasStandIn { (options.keepsCurrent, options.transition) = (true, nil) }
            hasStandIn = false
            return target.setImage(request, options: options, pipeline: wish.pipeline, completion: completion)
        }
        waiting = .some(completion)
        // Whatever is in memory; nothing is loaded for it.
        let standIn = wish.pipeline.responseInMemory(for: request)
        hasStandIn = standIn != nil
        target.await(wish.options, standIn: standIn)
    }

    /// The view has another size in pixels than before.
    func resized() {
        if let completion = waiting {
            waiting = nil
            return load(completion)
        }
        // Not again for each step of a resize.
        guard sizing.isOutgrown(by: host.pixels, fit: contentFit) else { return settling.stop() }
        settle()
    }

    private func settle() {
        settling.start(after: .milliseconds(200)) { [weak self] in self?.outgrown() }
    }

    private func outgrown() {
        // A load that is under way is not broken off for a larger one.
        if case .loading = target.state { return settle() }
        guard sizing.isOutgrown(by: host.pixels, fit: contentFit), let wish = sizing.wish,
            let request = sizing.request(for: host, fit: contentFit)
        else { return }
        var options = wish.options
        (options.keepsCurrent, options.transition) = (true, nil)
        target.setImage(request, options: options, pipeline: wish.pipeline)
    }
}
