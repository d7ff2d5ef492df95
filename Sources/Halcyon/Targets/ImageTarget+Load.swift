import HalcyonImage
import HalcyonSystem

extension ImageTarget {
    /// A request that the target was given. It is resolved once, so that its key is computed once.
    package struct Subject {
        /// The request, with the defaults of the pipeline.
        package let request: ImageRequest
        package let options: Options
        package let pipeline: ImagePipeline
        private let resolved: ResolvedRequest
        /// Whether the room of a surface, and not the request, determines the size of the image.
        let takesRoom: Bool
        /// Whether the request can be compared with others; false for one with a modifier, since a change made after
        /// the caches cannot be compared.
        private var isComparable: Bool
        /// The room for which it was loaded last; nil before there is one, and for a request with a size of its own.
        private(set) var room: ViewRoom?
        /// The request for that room.
        private(set) var sized: ResolvedRequest

        init(_ request: ImageRequest, _ options: Options, _ pipeline: ImagePipeline) {
            self.request = pipeline.configuration.defaults.applied(to: request)
            self.options = options
            self.pipeline = pipeline
            resolved = ResolvedRequest(self.request, for: pipeline.coordinator)
            sized = resolved
            takesRoom = !self.request.hasOwnSize
            isComparable = request.modifier == nil
        }

        /// The same subject, with its request resolved again.
        var resolvedAnew: Subject {
            var other = Subject(request, options, pipeline)
            other.isComparable = isComparable
            return other
        }

        /// The request as the pipeline has modified it, without the size of a room.
        package var modified: ImageRequest { resolved.request }

        /// Takes a room's size, unless the request has one of its own.
        mutating func fit(_ room: ViewRoom?) {
            guard takesRoom else { return }
            self.room = room
            sized = room.map { resized(to: $0.target(for: request.source)) } ?? resolved
        }

        /// The response with the image at any size that memory has.
        var standIn: ImageResponse? {
            pipeline.cachedResponse(for: resized(to: .any).changing { $0.cachePolicy.readsDiskSynchronously = false })
        }

        /// Returns the request at another size. Only the size in its key changes, unless the pipeline has a modifier,
        /// which may make another request from each size.
        private func resized(to target: TargetSize?) -> ResolvedRequest {
            guard pipeline.configuration.modifier != nil else { return resolved.resized(to: target) }
            return ResolvedRequest(request.resized(to: target), for: pipeline.coordinator)
        }

        /// Returns whether both are of the same image, whatever its size.
        func isSame(as other: Subject) -> Bool { pipeline === other.pipeline && resolved.key == other.resolved.key }

        /// Returns whether both are of the same image at the same size.
        func isEqual(to other: Subject) -> Bool { pipeline === other.pipeline && sized.key == other.sized.key }

        /// Returns whether the image of another subject, if it is the same, may stay in place of this one's: the
        /// request must not bypass the caches.
        func isStill(_ other: Subject) -> Bool {
            !request.cachePolicy.reads.isEmpty && isComparable && other.isComparable
                && request.scale == other.request.scale
        }
    }

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
        var asksServer = false
        /// The subject of a reload, before it was resolved anew.
        var reloaded: Subject?
        /// Whether the image at another size is shown, and stays until this one is there.
        var isOverStandIn = false
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
            asksServer ? subject.sized.changing { $0.cachePolicy.reads = [] } : subject.sized
        }

        var isWaiting: Bool { task == nil }

        var isRenewal: Bool { purpose == .again || purpose == .anotherSize }

        var keepsCurrent: Bool { options.keepsCurrent || isOverStandIn || purpose != .first }

        var transition: ImageTransition? { isOverStandIn || isRenewal ? nil : options.transition }
    }

    /// The priority for the load of the subject.
    var urgency: RequestPriority {
        let urgency = priority ?? subject?.modified.priority ?? .low
        return isSeen ? urgency : min(urgency, .low)
    }

    /// The priority of the load under way; nil while there is none.
    package var loadPriority: RequestPriority? { load?.task?.priority }

    /// Whether a load is under way or waits for a room, including one that is not reported.
    package var isLoading: Bool { load != nil }

    // MARK: - From the subject to its task

    /// Loads the subject for the room of the surface, or waits for the room if there is none yet.
    func begin(_ load: Load) {
        rest()
        guard var subject else { return }
        if subject.room == nil { subject.fit(sizedSurface?.room) }
        self.subject = subject
        (purpose, load.isOverStandIn, hasStandIn) = (load.purpose, hasStandIn, false)
        if let response = response(alreadyShownFor: subject, load) {
            shown = subject
            return load.end(.shown(response))
        }
        let waits = sizedSurface != nil && subject.takesRoom && subject.room == nil
        // Started before the former task is cancelled, so that work that both share goes on.
        if !waits { load.task = subject.pipeline.task(for: load.request(for: subject), priority: urgency) }
        let former = supersede(by: load)
        if let task = load.task { begin(load, task) } else { announce(load, subject) }
        former?.end(.superseded)
    }

    /// Returns the response of the requested image, if exactly this image is shown and nothing is loading.
    private func response(alreadyShownFor subject: Subject, _ load: Load) -> ImageResponse? {
        guard self.load == nil, load.purpose != .reload, case .showing(let response) = state, let shown,
            subject.isStill(shown), subject.isEqual(to: shown)
        else { return nil }
        return response
    }

    /// Shows the content that is seen before there is an image: the image at any size that memory has, or the
    /// placeholder. Nothing is loaded for it.
    private func announce(_ load: Load, _ subject: Subject) {
        let standIn = load.purpose == .first || !hasImage ? subject.standIn : nil
        if standIn != nil { (shown, hasStandIn) = (nil, true) }
        turn(to: .loading(nil), showing: standIn.map { .image($0) } ?? beforehand(load))
    }

    private func begin(_ load: Load, _ task: ImageTask) {
        if let result = task.immediateResult {
            load.isImmediate = true
            return finish(load, result)
        }
        if !isSilent(load) {
            turn(to: .loading(nil), showing: beforehand(load))
        } else {
            switch state {
            // The former load reports nothing more, and its error is not this image's.
            case .loading, .failed: turn(to: settledState)
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
    private func beforehand(_ load: Load) -> Content? {
        if load.options.placeholderTiming == .onFailure { return nil }
        if load.keepsCurrent, hasImage { return nil }
        return load.options.placeholderContent
    }

    private func isSilent(_ load: Load) -> Bool { load.isRenewal && hasImage }

    // MARK: - From the task to the content

    private func receive(_ event: ImageEvent, _ load: Load) {
        guard load === self.load else { return }
        switch event {
        case .progress(let progress): if !isSilent(load) { turn(to: .loading(progress)) }
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
            callOff()
            if !load.isRenewal, isOutgrown { renewSoon() }
        case .failure(let error): fail(load, error)
        }
    }

    private func succeed(_ load: Load, _ response: ImageResponse) {
        // From here on the image is there, and there is nothing left to cancel.
        self.load = nil
        guard load.options.setsAutomatically else {
            turn(to: settledState)
            return load.end(.shown(response))
        }
        shown = subject
        // An image that is there at once counts as one from memory, wherever it was.
        let origin = load.isImmediate ? .memory : response.origin
        if let transition = load.transition, transition.origins.contains(origin), let surface {
            show(response, by: transition, on: surface, load)
        } else {
            turn(to: .showing(response), showing: .image(response))
            load.end(.shown(response))
        }
    }

    private func show(
        _ response: ImageResponse, by transition: ImageTransition, on surface: any ImageSurface, _ load: Load
    ) {
        let generation = generation
        see(.image(response))
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
            turn(to: .failed(error), showing: insteadOfFailure(load))
        }
        load.end(.failed(error))
    }

    private func insteadOfFailure(_ load: Load) -> Content? {
        if load.purpose == .reload, hasImage { return nil }
        switch load.options.failure {
        case .image(let image?): return .failure(image)
        case .image(nil): return .nothing
        case .placeholder:
            if load.keepsCurrent, hasImage { return nil }
            return load.options.placeholder.map { .placeholder($0) } ?? insteadOfPreview(load.options)
        }
    }
}
