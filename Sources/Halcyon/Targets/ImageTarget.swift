import HalcyonImage
import HalcyonSystem

/// An object that gives anything that can show an image the behaviour of an image view: one load at a time, of which
/// only the last is ever shown, with a placeholder, an image for failures, and an end that is reported exactly once.
///
///     let target = ImageTarget { content in cell.picture = content.image }
///     target.setImage(ImageRequest(url), options: .init(placeholder: .image(grey)))
///
/// An image in memory is shown before `setImage` returns, without placeholder and without transition. A target that is
/// released cancels its load. A target has one role, such as a view's image or its background; a view with several
/// roles has a target for each.
@MainActor
public final class ImageTarget {
    /// The state of the target. The surface is notified of each change, after it has shown the content that belongs to
    /// it.
    public internal(set) var state: State = .empty

    /// The content that is shown now.
    public private(set) var content: Content = .nothing

    /// The priority of the current load and of later ones; nil, the default, takes each request's own.
    public var priority: RequestPriority? {
        didSet { load?.task?.priority = effectivePriority }
    }

    /// Whether the surface is visible; true by default. The loads of an invisible one continue at a low priority, after
    /// those of visible ones, since it may become visible again.
    package var isVisible = true {
        didSet { load?.task?.priority = effectivePriority }
    }

    /// The request that is shown or loading, with the defaults of its pipeline.
    public var request: ImageRequest? { subject?.request }

    /// The subject that was requested last, or that of the shown image if the request was cancelled. Nil if there is
    /// nothing to load.
    package internal(set) var subject: Subject?
    /// The subject of the image that is shown; nil if there is none, and for an image that stands in.
    package internal(set) var shown: Subject?
    /// The load that is under way or waits for a room.
    var load: Load?
    /// Whether the image at another size is shown, until the surface has a room.
    package internal(set) var hasStandIn = false
    /// The purpose for which the image that is shown or loading was loaded; nil if there is none.
    package internal(set) var purpose: Load.Purpose?
    /// The number of loads so far. Content that is shown for one load belongs to the same image.
    package private(set) var loadCount = 0

    private(set) weak var surface: (any ImageSurface)?
    /// The surface, if it has a size of its own.
    private(set) weak var sizedSurface: (any SizedImageSurface)?
    /// A surface that only the target retains.
    private var ownSurface: ClosureSurface?
    /// The number of operations so far. If a callback starts another operation, the operation that called it calls no
    /// further ones.
    private(set) var generation = 0
    /// The delay before a renewal, so that the room of the surface can settle.
    var renewal: Task<Void, Never>?

    /// Creates a target for a surface.
    ///
    /// - Parameter surface: the surface, held weakly, since it is the view that owns the target.
    public init(surface: any ImageSurface) {
        self.surface = surface
        sizedSurface = surface as? any SizedImageSurface
    }

    /// Creates a target that shows its content by a closure.
    ///
    /// - Parameter show: called on the main actor with the content to show from then on.
    public init(show: @escaping @MainActor (Content) -> Void) {
        let own = ClosureSurface(show)
        ownSurface = own
        surface = own
    }

    isolated deinit {
        renewal?.cancel()
        load?.task?.cancel()
        load?.end(.cancelled)
    }

    // MARK: - Loads

    /// Loads an image and shows it, in place of the image that was loading or shown.
    ///
    /// If the very same image is shown already, only the completion is called.
    ///
    /// - Parameters:
    ///   - pipeline: the shared one by default.
    ///   - completion: called once, on the main actor, after the image is on the view; before `setImage` returns for an
    ///     image in memory, unless the pipeline has interceptors.
    public func setImage(
        _ request: ImageRequest, options: Options = Options(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (End) -> Void)? = nil
    ) {
        var subject = Subject(request, options, pipeline)
        // The same image again counts as the very same, if the loaded one is still large enough.
        if let former = self.subject, subject.isSame(as: former), !isOutgrown { subject.fit(former.room) }
        let isAgain = shown.map { subject.acceptsImage(of: $0) && subject.isSame(as: $0) } ?? false
        self.subject = subject
        hasStandIn = false
        begin(Load(isAgain ? .again : .first, options, completion))
    }

    /// Loads the subject for the room of the surface, or waits for the room if there is none yet.
    func begin(_ load: Load) {
        cancelRenewal()
        guard var subject else { return }
        if subject.room == nil { subject.fit(sizedSurface?.room) }
        self.subject = subject
        (purpose, load.replacesStandIn, hasStandIn) = (load.purpose, hasStandIn, false)
        if let response = response(alreadyShownFor: subject, load) {
            shown = subject
            return load.end(.shown(response))
        }
        let waits = sizedSurface != nil && subject.takesRoom && subject.room == nil
        // Started before the former task is cancelled, so that work that both share goes on.
        if !waits { load.task = subject.pipeline.task(for: load.request(for: subject), priority: effectivePriority) }
        let former = supersede(by: load)
        if let task = load.task { observe(task, for: load) } else { waitForRoom(load, subject) }
        former?.end(.superseded)
    }

    /// Returns the response of the requested image, if exactly this image is shown and nothing is loading.
    private func response(alreadyShownFor subject: Subject, _ load: Load) -> ImageResponse? {
        guard self.load == nil, load.purpose != .reload, case .showing(let response) = state, let shown,
            subject.acceptsImage(of: shown), subject.isEqual(to: shown)
        else { return nil }
        return response
    }

    /// Reloads the image that is shown or failed, from the server. The content stays while it loads, and if the reload
    /// fails. Ends in `.cancelled` if there is nothing to load.
    public func reload(completion: (@MainActor (End) -> Void)? = nil) {
        guard let subject else {
            completion?(.cancelled)
            return
        }
        // The file may have changed, and so may the user.
        self.subject = subject.resolvedAgain
        // A first load that waits for a room has not begun: once it does, it asks the server.
        let isFirst = load.map { $0.isWaiting && $0.purpose == .first } ?? false
        let again = Load(isFirst ? .first : .reload, subject.options, completion)
        again.bypassesCaches = true
        again.reloaded = subject
        begin(again)
    }

    /// Cancels the load that is under way. The content stays, except for a preview.
    public func cancel() {
        cancelRenewal()
        cancelLoad()
        if isOutgrown { scheduleRenewal() }
    }

    /// Cancels the load that is under way, and shows nothing.
    public func clear() { showImage(nil) }

    /// Cancels the load that is under way, and shows an image that the program has; nil shows nothing.
    public func showImage(_ image: Image?) {
        cancelRenewal()
        let former = supersede(by: nil)
        (subject, purpose, hasStandIn) = (nil, nil, false)
        update(to: .empty, showing: image.map { Content.own($0) } ?? .nothing)
        former?.end(.superseded)
    }

    /// Replaces the current load by another one, or by none.
    ///
    /// - Returns: the load that was replaced; the caller must report its end.
    func supersede(by load: Load?) -> Load? {
        generation += 1
        loadCount += 1
        let former = self.load
        self.load = load
        guard let former, former !== load else { return nil }
        if former.options.formerLoad == .cancel { former.task?.cancel() }
        return former
    }

    func cancelLoad() {
        guard let load else { return }
        generation += 1
        self.load = nil
        load.task?.cancel()
        // A reload has the subject of the image that stays.
        if let shown { subject = shown }
        let withdrawn = contentReplacingPreview(load.options)
        update(to: withdrawn == nil ? settledState : .empty, showing: withdrawn)
        load.end(.cancelled)
    }

    // MARK: - Content

    /// Changes the state and the content. Both are set before the surface is notified of the state.
    func update(to state: State, showing content: Content? = nil) {
        let generation = generation
        self.state = state
        if let content { show(content) }
        if generation == self.generation { surface?.stateChanged(state) }
    }

    func show(_ content: Content) {
        setContent(content)
        surface?.show(content)
    }

    func setContent(_ content: Content) {
        self.content = content
        if !hasImage { shown = nil }
    }

    /// Returns the content that replaces a preview, since part of an image must not pass for all of it; nil if no
    /// preview is shown.
    func contentReplacingPreview(_ options: Options) -> Content? {
        guard case .preview = content else { return nil }
        return options.placeholderContent
    }

    var hasImage: Bool {
        if case .image = content { true } else { false }
    }

    /// The state that belongs to the content, once nothing is loading.
    var settledState: State {
        if case .image(let response) = content { .showing(response) } else { .empty }
    }
}

// MARK: - The request

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
        var resolvedAgain: Subject {
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
        func acceptsImage(of other: Subject) -> Bool {
            !request.cachePolicy.reads.isEmpty && isComparable && other.isComparable
                && request.scale == other.request.scale
        }
    }
}
