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
    public private(set) var state: State = .empty

    /// What is to be seen now.
    public private(set) var content: Content = .nothing

    /// How urgent the present load is, and those to come; each request's own by default. A view that nobody sees lowers it.
    public var priority: RequestPriority? {
        didSet { if let setting, let request { setting.task.priority = priority ?? request.priority } }
    }

    /// That of the load under way; nil while there is none.
    package var loadPriority: RequestPriority? { setting?.task.priority }

    /// Whether a load is under way or about to begin, one that nobody is told of too.
    package var isLoading: Bool {
        if case .loading = state { true } else { setting != nil }
    }

    /// The request that is shown or under way.
    public private(set) var request: ImageRequest?

    /// That of the image that is shown, which `request` is not once another load has been called off.
    private var shown: (request: ImageRequest, pipeline: ImagePipeline)?
    private var pipeline: ImagePipeline?
    private var options = Options()
    private var setting: Setting?
    private weak var surface: (any ImageSurface)?
    /// A surface that nobody else keeps.
    private var ownSurface: ClosureSurface?
    /// Counts what was asked of it: a callback that asks for something else is the last one of what it was called for.
    private var course = 0
    /// Counts the loads: what is shown of one of them is the same image.
    package private(set) var loadCount = 0

    /// One call of `setImage`, to its end.
    @MainActor private final class Setting {
        let task: ImageTask
        let options: Options
        /// It had its image before `setImage` returned.
        var isImmediate = false
        /// Of a transition, that it is over or that its surface was told of the image, whichever comes first.
        var isHalfway = false
        private var completion: (@MainActor (End) -> Void)?

        init(_ task: ImageTask, _ options: Options, _ completion: (@MainActor (End) -> Void)?) {
            self.task = task
            self.options = options
            self.completion = completion
        }

        func end(_ end: End) {
            let completion = completion
            self.completion = nil
            completion?(end)
        }
    }

    /// - Parameter surface: kept weakly: it is the view that has the target.
    public init(surface: any ImageSurface) {
        self.surface = surface
    }

    /// - Parameter show: called on the main actor with what is to be seen from then on.
    public init(show: @escaping @MainActor (Content) -> Void) {
        let own = ClosureSurface(show)
        ownSurface = own
        surface = own
    }

    isolated deinit {
        setting?.task.cancel()
        setting?.end(.cancelled)
    }

    // MARK: - Loads

    /// Loads an image and shows it, instead of whatever was loading or shown.
    ///
    /// Where the very same is shown already, nothing happens but the completion.
    ///
    /// - Parameters:
    ///   - pipeline: the shared one by default.
    ///   - completion: called once, on the main actor, after the image is on the view; before `setImage` returns for an
    ///     image in memory.
    public func setImage(
        _ request: ImageRequest, options: Options = Options(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (End) -> Void)? = nil
    ) {
        if setting == nil, case .showing(let response) = state, isSame(request, pipeline) {
            completion?(.shown(response))
            return
        }
        var asked = request
        if let priority { asked.priority = priority }
        let task = pipeline.task(for: asked)
        let setting = Setting(task, options, completion)
        let former = supersede(by: setting)
        (self.request, self.pipeline, self.options) = (request, pipeline, options)
        if let result = task.immediateResult {
            setting.isImmediate = true
            finish(setting, result)
        } else {
            if !isSilent(setting) {
                turn(to: .loading(nil), showing: beforehand(options))
            } else if case .loading = state {
                // Of the load that it takes the place of nothing more is to come.
                turn(to: settledState)
            }
            follow(setting)
        }
        former?.end(.superseded)
    }

    /// Shows what is seen before an image is there, for a load that is about to follow: its view has no size yet.
    ///
    /// - Parameter standIn: the image at another size.
    package func await(_ options: Options, standIn: ImageResponse? = nil) {
        let former = supersede(by: nil)
        request = nil
        if standIn != nil { shown = nil }
        turn(to: .loading(nil), showing: standIn.map { .image($0) } ?? beforehand(options))
        former?.end(.superseded)
    }

    /// Loads what is shown or failed once more, from the server; what is shown stays meanwhile, and where that fails. Ends in
    /// `.cancelled` where there is nothing to load.
    public func reload(completion: (@MainActor (End) -> Void)? = nil) {
        guard let request else {
            completion?(.cancelled)
            return
        }
        reload(as: request, completion: completion)
    }

    /// - Parameter other: the same image, for another size.
    package func reload(as other: ImageRequest, completion: (@MainActor (End) -> Void)? = nil) {
        guard let pipeline else {
            completion?(.cancelled)
            return
        }
        // What a pipeline says of caching counts beside what is said here.
        var (asked, again) = (pipeline.configuration.defaults.applied(to: other), options)
        asked.cache.reads = []
        (again.keepsCurrent, again.isReload, again.isRenewal) = (true, true, false)
        setImage(asked, options: again, pipeline: pipeline, completion: completion)
    }

    /// Ends the load that is under way; what is seen stays, but for a preview.
    public func cancel() {
        guard let setting else {
            // One that was announced and had not begun.
            if case .loading = state {
                course += 1
                turn(to: settledState)
            }
            return
        }
        course += 1
        self.setting = nil
        setting.task.cancel()
        // What stays is what a reload is about.
        if hasImage, let shown { (request, pipeline) = shown }
        let withdrawn = insteadOfPreview(setting.options)
        turn(to: withdrawn == nil ? settledState : .empty, showing: withdrawn)
        setting.end(.cancelled)
    }

    /// Ends the load that is under way, and shows nothing.
    public func clear() { show(nil) }

    /// Ends the load that is under way, and shows an image that the program has; nil shows nothing.
    public func show(_ image: Image?) {
        let former = supersede(by: nil)
        request = nil
        turn(to: .empty, showing: image.map { Content.own($0) } ?? .nothing)
        former?.end(.superseded)
    }

    private func supersede(by setting: Setting?) -> Setting? {
        course += 1
        loadCount += 1
        let former = self.setting
        self.setting = setting
        if let former, former.options.formerLoad == .cancel { former.task.cancel() }
        return former
    }

    private func isSame(_ request: ImageRequest, _ pipeline: ImagePipeline) -> Bool {
        guard let (shown, shownBy) = shown, shownBy === pipeline, !request.cache.reads.isEmpty else { return false }
        // What is done to an image behind the caches cannot be compared.
        guard shown.modifier == nil, request.modifier == nil, shown.scale == request.scale else { return false }
        return pipeline.key(for: shown) == pipeline.key(for: request)
    }

    // MARK: - What is seen

    /// Goes over to a state and what is seen in it: both are there before the surface is told of either.
    private func turn(to state: State, showing content: Content? = nil) {
        let course = course
        self.state = state
        if let content {
            self.content = content
            surface?.show(content)
        }
        if course == self.course { surface?.stateChanged(state) }
    }

    /// What is seen while a load goes on; nil is what is seen already.
    private func beforehand(_ options: Options) -> Content? {
        if options.placeholderTiming == .onFailure { return nil }
        if options.keepsCurrent, hasImage { return nil }
        return placeholder(options)
    }

    private func placeholder(_ options: Options) -> Content { options.placeholder.map { .placeholder($0) } ?? .nothing }

    /// Part of an image must not pass for all of it. Nil where there is none.
    private func insteadOfPreview(_ options: Options) -> Content? {
        guard case .preview = content else { return nil }
        return placeholder(options)
    }

    private func isSilent(_ setting: Setting) -> Bool { setting.options.isRenewal && hasImage }

    private var hasImage: Bool {
        if case .image = content { true } else { false }
    }

    /// The state of what is seen, once nothing is loading.
    private var settledState: State {
        if case .image(let response) = content { .showing(response) } else { .empty }
    }

    private func follow(_ setting: Setting) {
        setting.task.observe(
            event: { [weak self] event in
                MainInbox.shared.add { [weak setting] in setting.map { self?.receive(event, $0) } }
            },
            end: { [weak self] result in
                MainInbox.shared.add {
                    guard let self else { return }
                    self.finish(setting, result)
                }
            })
    }

    private func receive(_ event: ImageEvent, _ setting: Setting) {
        guard setting === self.setting else { return }
        switch event {
        case .progress(let progress): if !isSilent(setting) { turn(to: .loading(progress)) }
        case .preview(let preview):
            if setting.options.setsAutomatically, !(setting.options.keepsCurrent && hasImage) {
                content = .preview(preview)
                surface?.show(content)
            }
        case .finished: break
        }
    }

    private func finish(_ setting: Setting, _ result: Result<ImageResponse, any Error>) {
        guard setting === self.setting else { return }
        switch result {
        case .success(let response): succeed(setting, response)
        // Somebody else has the task too: the pipeline cancels all of its own.
        case .failure(is CancellationError): cancel()
        case .failure(let error): fail(setting, error)
        }
    }

    private func succeed(_ setting: Setting, _ response: ImageResponse) {
        // From here on the image is there, and nothing is left to cancel.
        self.setting = nil
        guard setting.options.setsAutomatically else {
            turn(to: settledState)
            return setting.end(.shown(response))
        }
        if let request, let pipeline { shown = (request, pipeline) }
        // What was there at once came as if from memory, wherever it was.
        let origin = setting.isImmediate ? .memory : response.origin
        if let transition = setting.options.transition, transition.origins.contains(origin), let surface {
            show(response, by: transition, on: surface, setting)
        } else {
            turn(to: .showing(response), showing: .image(response))
            setting.end(.shown(response))
        }
    }

    private func show(
        _ response: ImageResponse, by transition: ImageTransition, on surface: any ImageSurface, _ setting: Setting
    ) {
        let course = course
        (content, state) = (.image(response), .showing(response))
        // A surface that does not animate is done at once: the end is told after the state all the same.
        let half = { @MainActor in
            if setting.isHalfway { setting.end(.shown(response)) }
            setting.isHalfway = true
        }
        if !setting.options.waitsForTransition { setting.isHalfway = true }
        surface.show(response, by: transition) { if setting.options.waitsForTransition { half() } }
        if course == self.course { surface.stateChanged(state) }
        half()
    }

    private func fail(_ setting: Setting, _ error: any Error) {
        self.setting = nil
        if isSilent(setting) {
            if let shown { (request, pipeline) = shown }
        } else {
            turn(to: .failed(error), showing: shown(insteadOfFailure: setting.options))
        }
        setting.end(.failed(error))
    }

    private func shown(insteadOfFailure options: Options) -> Content? {
        if options.isReload, hasImage { return nil }
        switch options.failure {
        case .image(let image?): return .failure(image)
        case .image(nil): return .nothing
        case .placeholder:
            if options.keepsCurrent, hasImage { return nil }
            return options.placeholder.map { .placeholder($0) } ?? insteadOfPreview(options)
        }
    }
}
