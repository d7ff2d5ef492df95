import HalcyonImage
import HalcyonSystem

extension ImageTarget {
    /// A request as the target was asked for it. It is resolved once, so that its key is computed once.
    package struct Subject {
        /// With the defaults of the pipeline.
        package let request: ImageRequest
        package let options: Options
        package let pipeline: ImagePipeline
        private let resolved: ResolvedRequest
        /// Whether the room of a surface says how large the image is to be, and not the request.
        let takesRoom: Bool
        /// False for a request with a modifier: a change behind the caches cannot be compared.
        private var isComparable: Bool
        /// The room that it was loaded for last; nil before there is one, and with a size of its own.
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

        /// The same, looked at anew.
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

        /// The image at any size that memory has.
        var standIn: ImageResponse? { pipeline.cachedResponse(for: resized(to: .any)) }

        /// The key changes in its size alone. Only a pipeline's modifier may make another request of each size.
        private func resized(to target: TargetSize?) -> ResolvedRequest {
            guard pipeline.configuration.modifier != nil else { return resolved.resized(to: target) }
            return ResolvedRequest(request.resized(to: target), for: pipeline.coordinator)
        }

        /// Whether both are of the same image, whatever its size.
        func isSame(as other: Subject) -> Bool { pipeline === other.pipeline && resolved.key == other.resolved.key }

        /// Whether both are of the same image at the same size.
        func isEqual(to other: Subject) -> Bool { pipeline === other.pipeline && sized.key == other.sized.key }

        /// Whether the image of another may stay in the place of this one's, if it is the same: nothing of it is to be asked for
        /// anew.
        func isStill(_ other: Subject) -> Bool {
            !request.cache.reads.isEmpty && isComparable && other.isComparable && request.scale == other.request.scale
        }
    }

    /// One load, from its asking to its end.
    @MainActor package final class Load {
        package enum Purpose: Sendable {
            /// An image that is not shown.
            case first
            /// The image that is shown was asked for again: nothing is told of but the end.
            case again
            /// The image that is shown, for a room that has outgrown it: nothing is told of at all.
            case anotherSize
            /// The image that is shown or failed, from the server.
            case reload
        }

        let purpose: Purpose
        let options: Options
        /// Nil while it waits for a room.
        var task: ImageTask?
        /// Whether it passes the caches by.
        var asksServer = false
        /// The image at another size is shown, and stays until this one is there.
        var isOverStandIn = false
        /// It had its image before `setImage` returned.
        var isImmediate = false
        /// Whether one half of a transition is done: its frames, or the word to its surface.
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
            asksServer ? subject.sized.changing { $0.cache.reads = [] } : subject.sized
        }

        var isWaiting: Bool { task == nil }

        var isRenewal: Bool { purpose == .again || purpose == .anotherSize }

        var keepsCurrent: Bool { options.keepsCurrent || isOverStandIn || purpose != .first }

        var transition: ImageTransition? { isOverStandIn || isRenewal ? nil : options.transition }
    }

    /// How urgent the load of the subject is.
    var urgency: RequestPriority {
        let urgency = priority ?? subject?.modified.priority ?? .low
        return isSeen ? urgency : min(urgency, .low)
    }

    /// The priority of the load under way; nil while there is none.
    package var loadPriority: RequestPriority? { load?.task?.priority }

    /// Whether a load is under way or about to begin, one that nobody is told of too.
    package var isLoading: Bool { load != nil }

    // MARK: - From the subject to its task

    /// Loads the subject for the room of the surface; where that has none yet, waits for it.
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
        // Before the former task is cancelled, so that what both want goes on.
        if !waits { load.task = subject.pipeline.task(for: load.request(for: subject), priority: urgency) }
        let former = supersede(by: load)
        if let task = load.task { begin(load, task) } else { announce(load, subject) }
        former?.end(.superseded)
    }

    /// The very image that is asked for, where it is shown and nothing is loading.
    private func response(alreadyShownFor subject: Subject, _ load: Load) -> ImageResponse? {
        guard self.load == nil, load.purpose != .reload, case .showing(let response) = state, let shown,
            subject.isStill(shown), subject.isEqual(to: shown)
        else { return nil }
        return response
    }

    /// Shows what is seen before an image is there, of the image whatever memory has; nothing is loaded for it.
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
        } else if case .loading = state {
            // Nothing more is to come of the former load.
            turn(to: settledState)
        }
        task.observe(
            event: { [weak self] event in
                MainInbox.shared.add { [weak load] in load.map { self?.receive(event, $0) } }
            },
            end: { [weak self] result in MainInbox.shared.add { self?.finish(load, result) } })
    }

    /// The content that is seen while a load goes on; nil keeps the present one.
    private func beforehand(_ load: Load) -> Content? {
        if load.options.placeholderTiming == .onFailure { return nil }
        if load.keepsCurrent, hasImage { return nil }
        return load.options.placeholderContent
    }

    private func isSilent(_ load: Load) -> Bool { load.isRenewal && hasImage }

    // MARK: - From the task to what is seen

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
        // Somebody else has the task too: the pipeline cancels all of its own.
        case .failure(is CancellationError): callOff()
        case .failure(let error): fail(load, error)
        }
    }

    private func succeed(_ load: Load, _ response: ImageResponse) {
        // From here on the image is there, and nothing is left to cancel.
        self.load = nil
        guard load.options.setsAutomatically else {
            turn(to: settledState)
            return load.end(.shown(response))
        }
        shown = subject
        // An image that is there at once came as if from memory, wherever it was.
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
        let course = course
        see(.image(response))
        state = .showing(response)
        // A surface that does not animate is done at once: the end is told after the state all the same.
        let half = { @MainActor in
            if load.isHalfway { load.end(.shown(response)) }
            load.isHalfway = true
        }
        if !load.options.waitsForTransition { load.isHalfway = true }
        surface.show(response, by: transition) { if load.options.waitsForTransition { half() } }
        if course == self.course { surface.stateChanged(state) }
        half()
    }

    private func fail(_ load: Load, _ error: any Error) {
        self.load = nil
        if isSilent(load) {
            // The image that is shown is as small as it was: the next resize tries again.
            if let shown { subject = shown }
        } else {
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
