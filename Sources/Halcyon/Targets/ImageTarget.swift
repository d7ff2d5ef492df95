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
        didSet { load?.task?.priority = urgency }
    }

    /// Whether the surface is visible; true by default. The loads of an invisible one continue at a low priority, after
    /// those of visible ones, since it may become visible again.
    package var isSeen = true {
        didSet { load?.task?.priority = urgency }
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
    private var resting: Task<Void, Never>?

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
        resting?.cancel()
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
    ///     image in memory.
    public func setImage(
        _ request: ImageRequest, options: Options = Options(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (End) -> Void)? = nil
    ) {
        var subject = Subject(request, options, pipeline)
        // The same image again counts as the very same, if the loaded one is still large enough.
        if let former = self.subject, subject.isSame(as: former), !isOutgrown { subject.fit(former.room) }
        let isAgain = shown.map { subject.isStill($0) && subject.isSame(as: $0) } ?? false
        self.subject = subject
        hasStandIn = false
        begin(Load(isAgain ? .again : .first, options, completion))
    }

    /// Reloads the image that is shown or failed, from the server. The content stays while it loads, and if the reload
    /// fails. Ends in `.cancelled` if there is nothing to load.
    public func reload(completion: (@MainActor (End) -> Void)? = nil) {
        guard let subject else {
            completion?(.cancelled)
            return
        }
        // The file may have changed, and so may the user.
        self.subject = subject.resolvedAnew
        // A first load that waits for a room has not begun: once it does, it asks the server.
        let isFirst = load.map { $0.isWaiting && $0.purpose == .first } ?? false
        let again = Load(isFirst ? .first : .reload, subject.options, completion)
        again.asksServer = true
        again.reloaded = subject
        begin(again)
    }

    /// Cancels the load that is under way. The content stays, except for a preview.
    public func cancel() {
        rest()
        callOff()
        if isOutgrown { renewSoon() }
    }

    /// Cancels the load that is under way, and shows nothing.
    public func clear() { show(nil) }

    /// Cancels the load that is under way, and shows an image that the program has; nil shows nothing.
    public func show(_ image: Image?) {
        rest()
        let former = supersede(by: nil)
        (subject, purpose, hasStandIn) = (nil, nil, false)
        turn(to: .empty, showing: image.map { Content.own($0) } ?? .nothing)
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

    func callOff() {
        guard let load else { return }
        generation += 1
        self.load = nil
        load.task?.cancel()
        // A reload has the subject of the image that stays.
        if let shown { subject = shown }
        let withdrawn = insteadOfPreview(load.options)
        turn(to: withdrawn == nil ? settledState : .empty, showing: withdrawn)
        load.end(.cancelled)
    }

    // MARK: - Content

    /// Changes the state and the content. Both are set before the surface is notified of the state.
    func turn(to state: State, showing content: Content? = nil) {
        let generation = generation
        self.state = state
        if let content { show(content) }
        if generation == self.generation { surface?.stateChanged(state) }
    }

    func show(_ content: Content) {
        see(content)
        surface?.show(content)
    }

    func see(_ content: Content) {
        self.content = content
        if !hasImage { shown = nil }
    }

    /// Returns the content that replaces a preview, since part of an image must not pass for all of it; nil if no
    /// preview is shown.
    func insteadOfPreview(_ options: Options) -> Content? {
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

// MARK: - The room of the surface

extension ImageTarget {
    /// Begins a load that waits for a room, and renews an image that has become too small. Called after a change of
    /// `SizedImageSurface.room`.
    package func roomChanged() {
        if let load, load.isWaiting {
            if sizedSurface?.room != nil { begin(load) }
        } else if isOutgrown {
            renewSoon()
        } else {
            rest()
        }
    }

    /// Whether the image that was loaded last is too small for the present room, or cropped for another shape.
    package var isOutgrown: Bool {
        guard let room = sizedSurface?.room, let former = subject?.room else { return false }
        return former.isOutgrown(by: room)
    }

    /// Returns the number of an image's pixels for one unit of the surface, as long as the image is shown for the
    /// current load.
    package func scale(of image: Image) -> Double { subject?.room?.scale(of: image) ?? image.scale }

    /// Renews the image after 200 ms without another call, so that it is not renewed at each step of a resize.
    func renewSoon() {
        rest()
        resting = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(200))
            guard !Task.isCancelled, let self else { return }
            // The next cancellation must not affect the load that begins here.
            resting = nil
            renew()
        }
    }

    /// Cancels a renewal that is about to begin.
    func rest() {
        resting?.cancel()
        resting = nil
    }

    /// Loads the shown image again for the present room, if that has outgrown it. The load and its failure are not
    /// reported, and the content stays until the new image is there.
    package func renew() {
        // A load that is under way is not interrupted for a larger image.
        if case .loading = state { return renewSoon() }
        guard let subject, let shown, subject.isSame(as: shown), isOutgrown, !isWhole else { return }
        self.subject?.fit(nil)
        begin(Load(.anotherSize, subject.options))
    }

    /// Whether the shown image has all of its pixels, so that no other size has more.
    private var isWhole: Bool {
        guard case .image(let response) = content else { return false }
        return response.image.size == response.image.info.size && !response.image.info.isVector
    }
}
