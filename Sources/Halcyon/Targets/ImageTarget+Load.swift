import HalcyonImage
import HalcyonSystem

extension ImageTarget {
    /// One load, from its request to its end.
    @MainActor package final class Load {
        package enum Purpose: Sendable {
            /// To load an image that is not shown.
            case first
            /// The image that is shown was requested again: only the end is reported.
            case again
            /// To load the image that is shown for a room that has outgrown it: nothing is reported.
            case anotherSize
            /// To load the image that is shown or failed from the server.
            case reload
        }

        let purpose: Purpose
        let options: Options
        /// The task; nil while the load waits for a room.
        var task: ImageTask?
        /// Whether the load bypasses the caches.
        var bypassesCaches = false
        /// The subject of a reload, before it was resolved anew.
        var reloaded: Subject?
        /// Whether the image at another size is shown, and stays until this one is there.
        var replacesStandIn = false
        /// Whether the image was there before `setImage` returned.
        var isImmediate = false
        /// Whether one half of a transition's end has happened: the end of its animation, or the notification of its
        /// surface.
        var isHalfway = false
        private var completion: (@MainActor (End) -> Void)?

        init(_ purpose: Purpose, _ options: Options, _ completion: (@MainActor (End) -> Void)? = nil) {
            self.purpose = purpose
            self.options = options
            self.completion = completion
        }

        func end(_ end: End) {
            let completion = completion
            self.completion = nil
            completion?(end)
        }

        func request(for subject: Subject) -> ResolvedRequest {
            bypassesCaches ? subject.sized.changing { $0.cachePolicy.reads = [] } : subject.sized
        }

        var isWaiting: Bool { task == nil }

        var isRenewal: Bool { purpose == .again || purpose == .anotherSize }

        var keepsCurrent: Bool { options.keepsCurrent || replacesStandIn || purpose != .first }

        var transition: ImageTransition? { replacesStandIn || isRenewal ? nil : options.transition }
    }

    /// The priority for the load of the subject.
    var effectivePriority: RequestPriority {
        let wanted = priority ?? subject?.modified.priority ?? .low
        return isVisible ? wanted : min(wanted, .low)
    }

    /// The priority of the load under way; nil while there is none.
    package var loadPriority: RequestPriority? { load?.task?.priority }

    /// Whether a load is under way or waits for a room, including one that is not reported.
    package var isLoading: Bool { load != nil }

    // MARK: - From the task to the content

    /// Shows the content that is seen before there is an image: the image at any size that memory has, or the
    /// placeholder. Nothing is loaded for it.
    func waitForRoom(_ load: Load, _ subject: Subject) {
        let standIn = load.purpose == .first || !hasImage ? subject.standIn : nil
        if standIn != nil { (shown, hasStandIn) = (nil, true) }
        update(to: .loading(nil), showing: standIn.map { .image($0) } ?? loadingContent(load))
    }

    /// Reports a task that has begun, and receives its events, or shows its image if that is there at once.
    func observe(_ task: ImageTask, for load: Load) {
        if let result = task.immediateResult {
            load.isImmediate = true
            return finish(load, result)
        }
        if !isSilent(load) {
            update(to: .loading(nil), showing: loadingContent(load))
        } else {
            switch state {
            // The former load reports nothing more, and its error is not this image's.
            case .loading, .failed: update(to: settledState)
            default: break
            }
        }
        task.observe(
            event: { [weak self] event in
                MainInbox.shared.add { [weak load] in load.map { self?.receive(event, $0) } }
            },
            end: { [weak self] result in MainInbox.shared.add { self?.finish(load, result) } })
    }

    /// Returns the content that is shown while a load is under way; nil keeps the present one.
    private func loadingContent(_ load: Load) -> Content? {
        if load.options.placeholderTiming == .onFailure { return nil }
        if load.keepsCurrent, hasImage { return nil }
        return load.options.placeholderContent
    }

    private func isSilent(_ load: Load) -> Bool { load.isRenewal && hasImage }

    private func receive(_ event: ImageEvent, _ load: Load) {
        guard load === self.load else { return }
        switch event {
        case .progress(let progress): if !isSilent(load) { update(to: .loading(progress)) }
        case .preview(let preview):
            if load.options.setsAutomatically, !(load.keepsCurrent && hasImage) { show(.preview(preview)) }
        case .finished: break
        }
    }

    private func finish(_ load: Load, _ result: Result<ImageResponse, any Error>) {
        guard load === self.load else { return }
        switch result {
        case .success(let response): succeed(load, response)
        // The pipeline may have cancelled the task, since it can cancel all of its tasks.
        case .failure(is CancellationError):
            cancelLoad()
            if !load.isRenewal, isOutgrown { scheduleRenewal() }
        case .failure(let error): fail(load, error)
        }
    }

    private func succeed(_ load: Load, _ response: ImageResponse) {
        // From here on the image is there, and there is nothing left to cancel.
        self.load = nil
        guard load.options.setsAutomatically else {
            update(to: settledState)
            return load.end(.shown(response))
        }
        shown = subject
        // An image that is there at once counts as one from memory, wherever it was.
        let origin = load.isImmediate ? .memory : response.origin
        if let transition = load.transition, transition.origins.contains(origin), let surface {
            show(response, by: transition, on: surface, load)
        } else {
            update(to: .showing(response), showing: .image(response))
            load.end(.shown(response))
        }
    }

    private func show(
        _ response: ImageResponse, by transition: ImageTransition, on surface: any ImageSurface, _ load: Load
    ) {
        let generation = generation
        setContent(.image(response))
        state = .showing(response)
        // A surface that does not animate completes at once: the end is reported after the state all the same.
        let half = { @MainActor in
            if load.isHalfway { load.end(.shown(response)) }
            load.isHalfway = true
        }
        if !load.options.waitsForTransition { load.isHalfway = true }
        surface.show(response, by: transition) { if load.options.waitsForTransition { half() } }
        if generation == self.generation { surface.stateChanged(state) }
        half()
    }

    private func fail(_ load: Load, _ error: any Error) {
        self.load = nil
        if isSilent(load) {
            // The shown image is still too small: the next resize tries again.
            if let shown { subject = shown }
        } else {
            // The image that stays is that of the former key: it is renewed under it.
            if let shown, let reloaded = load.reloaded, reloaded.isSame(as: shown) { subject = shown }
            update(to: .failed(error), showing: failureContent(load))
        }
        load.end(.failed(error))
    }

    private func failureContent(_ load: Load) -> Content? {
        if load.purpose == .reload, hasImage { return nil }
        switch load.options.failure {
        case .image(let image?): return .failure(image)
        case .image(nil): return .nothing
        case .placeholder:
            if load.keepsCurrent, hasImage { return nil }
            return load.options.placeholder.map { .placeholder($0) } ?? contentReplacingPreview(load.options)
        }
    }
}
