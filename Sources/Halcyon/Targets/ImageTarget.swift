import HalcyonImage
import HalcyonSystem

/// Gives anything that can show an image the behaviour of an image view: one load at a time, of which only the last is
/// ever shown, with a placeholder, an image for failures, and an end that is told exactly once.
///
///     let target = ImageTarget { content in cell.picture = content.image }
///     target.setImage(ImageRequest(url), options: .init(placeholder: .image(grey)))
///
/// An image in memory is shown before `setImage` returns, without placeholder and without transition. A target that goes
/// away cancels its load. One target is one role, a view's image or its background; what has several has a target for each.
@MainActor
public final class ImageTarget {
    /// How far it is. The surface is told of each change, after it has shown what belongs to it.
    public internal(set) var state: State = .empty

    /// The picture that is to be seen now.
    public private(set) var content: Content = .nothing

    /// How urgent the present load is, and those to come; each request's own by default.
    public var priority: RequestPriority? {
        didSet { load?.task?.priority = urgency }
    }

    /// Whether the surface can be seen; true by default. The loads of one that cannot go on behind those of others, since it
    /// may come back.
    package var isSeen = true {
        didSet { load?.task?.priority = urgency }
    }

    /// The request that is shown or under way, with the defaults of its pipeline.
    public var request: ImageRequest? { subject?.request }

    /// The subject that was asked for last; that of the image that is shown, where it was called off. Nil where there is nothing
    /// to load.
    package internal(set) var subject: Subject?
    /// The subject of the image that is shown; nil while none is, and for one that stands in.
    package internal(set) var shown: Subject?
    /// The load that waits for a room or is under way.
    var load: Load?
    /// Whether the image at another size is shown, until the surface has a room.
    package internal(set) var hasStandIn = false
    /// Why the image that is shown or comes was loaded; nil where none was.
    package internal(set) var purpose: Load.Purpose?
    /// Counts the loads: what is shown of one of them is the same image.
    package private(set) var loadCount = 0

    private(set) weak var surface: (any ImageSurface)?
    /// The surface, where it has a size of its own.
    private(set) weak var sizedSurface: (any SizedImageSurface)?
    /// A surface that nobody else keeps.
    private var ownSurface: ClosureSurface?
    /// Counts what was asked of it: a callback that asks for something else is the last one of what it was called for.
    private(set) var course = 0
    /// Lets the room of the surface rest.
    private var resting: Task<Void, Never>?

    /// - Parameter surface: kept weakly: it is the view that has the target.
    public init(surface: any ImageSurface) {
        self.surface = surface
        sizedSurface = surface as? any SizedImageSurface
    }

    /// - Parameter show: called on the main actor with what is to be seen from then on.
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

    /// Loads an image and shows it, instead of whatever was loading or shown.
    ///
    /// Nothing happens but the completion where the very same image is shown already.
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
        // The same again, where what was loaded is large enough yet, is the very same.
        if let former = self.subject, subject.isSame(as: former), !isOutgrown { subject.fit(former.room) }
        let isAgain = shown.map { subject.isStill($0) && subject.isSame(as: $0) } ?? false
        self.subject = subject
        hasStandIn = false
        begin(Load(isAgain ? .again : .first, options, completion))
    }

    /// Loads what is shown or failed once more, from the server; what is shown stays meanwhile, and where that fails. Ends in
    /// `.cancelled` where there is nothing to load.
    public func reload(completion: (@MainActor (End) -> Void)? = nil) {
        guard let subject else {
            completion?(.cancelled)
            return
        }
        // A file may be another one by now, a user too.
        self.subject = subject.resolvedAnew
        // One that waits for a room has not begun: once it does, it asks the server.
        let again = Load(load?.isWaiting == true ? .first : .reload, subject.options, completion)
        again.asksServer = true
        begin(again)
    }

    /// Ends the load that is under way; what is seen stays, but for a preview.
    public func cancel() {
        rest()
        callOff()
        if isOutgrown { renewSoon() }
    }

    /// Ends the load that is under way, and shows nothing.
    public func clear() { show(nil) }

    /// Ends the load that is under way, and shows an image that the program has; nil shows nothing.
    public func show(_ image: Image?) {
        rest()
        let former = supersede(by: nil)
        (subject, purpose, hasStandIn) = (nil, nil, false)
        turn(to: .empty, showing: image.map { Content.own($0) } ?? .nothing)
        former?.end(.superseded)
    }

    /// Puts another load, or none, in the place of the present one.
    ///
    /// - Returns: the load whose place was taken; its end is yet to be told.
    func supersede(by load: Load?) -> Load? {
        course += 1
        loadCount += 1
        let former = self.load
        self.load = load
        guard let former, former !== load else { return nil }
        if former.options.formerLoad == .cancel { former.task?.cancel() }
        return former
    }

    func callOff() {
        guard let load else { return }
        course += 1
        self.load = nil
        load.task?.cancel()
        // A reload is about the image that stays.
        if let shown { subject = shown }
        let withdrawn = insteadOfPreview(load.options)
        turn(to: withdrawn == nil ? settledState : .empty, showing: withdrawn)
        load.end(.cancelled)
    }

    // MARK: - What is seen

    /// Goes over to a state and what is seen in it: both are there before the surface is told of either.
    func turn(to state: State, showing content: Content? = nil) {
        let course = course
        self.state = state
        if let content { show(content) }
        if course == self.course { surface?.stateChanged(state) }
    }

    func show(_ content: Content) {
        see(content)
        surface?.show(content)
    }

    func see(_ content: Content) {
        self.content = content
        if !hasImage { shown = nil }
    }

    /// Part of an image must not pass for all of it. Nil where there is none.
    func insteadOfPreview(_ options: Options) -> Content? {
        guard case .preview = content else { return nil }
        return options.placeholderContent
    }

    var hasImage: Bool {
        if case .image = content { true } else { false }
    }

    /// The state of what is seen, once nothing is loading.
    var settledState: State {
        if case .image(let response) = content { .showing(response) } else { .empty }
    }
}

// MARK: - The room of the surface

extension ImageTarget {
    /// Has a load that waits for a room begin, and one that has become too small be renewed: after a change of
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

    /// Whether what was loaded last is too small for the room that there is now, or cut for another shape.
    package var isOutgrown: Bool {
        guard let room = sizedSurface?.room, let former = subject?.room else { return false }
        return former.isOutgrown(by: room)
    }

    /// Pixels of an image for one unit of the surface, as long as it is shown for the present load.
    package func scale(of image: Image) -> Double { subject?.room?.scale(of: image) ?? image.scale }

    /// Not again for each step of a resize.
    private func renewSoon() {
        rest()
        resting = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(200))
            guard !Task.isCancelled, let self else { return }
            // The next cancellation is not for the load that begins here.
            resting = nil
            renew()
        }
    }

    /// Keeps what was to be renewed soon as it is.
    func rest() {
        resting?.cancel()
        resting = nil
    }

    /// Loads the image that is shown for the room that there is now, where that has outgrown it. Nobody is told that it loads
    /// or fails, and what is shown stays until the other is there.
    package func renew() {
        // A load that is under way is not broken off for a larger one.
        if case .loading = state { return renewSoon() }
        guard let subject, let shown, subject.isSame(as: shown), isOutgrown, !isWhole else { return }
        self.subject?.fit(nil)
        begin(Load(.anotherSize, subject.options))
    }

    /// All of its pixels are seen: no size has more.
    private var isWhole: Bool {
        guard case .image(let response) = content else { return false }
        return response.image.size == response.image.info.size && !response.image.info.isVector
    }
}
