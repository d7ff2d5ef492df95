import Foundation
import HalcyonImage
import HalcyonSystem
import Observation

/// The image of a request as a state that any user interface can follow: a declarative view, a terminal, a window of any kit.
///
///     let remote = RemoteImage()
///     remote.load(url, options: .init(placeholder: .image(grey)))
///     draw(remote.image, remote.progress)
///
/// It is observed by `withObservationTracking` and all that is built on it, or by its `snapshots`; both tell of progress, of
/// previews, and of each frame of an animation. Loads behave as in `ImageTarget`, which this object owns: only the last request
/// is ever shown, an image in memory is there before `load` returns, and a released object cancels its load.
///
/// It belongs to the main actor, on which user interfaces draw: a state that could change between two reads of one drawing would
/// show parts of two images. In a GTK program, `GTKMainLoop.attach()` of `HalcyonGTK` runs the main actor. Other actors await
/// its members or read its snapshots.
@MainActor
public final class RemoteImage: Observable {
    /// The room that a view has for the image, which determines the size at which it is loaded.
    public enum Room: Sendable, Hashable {
        /// Images are loaded at their own size.
        case unlimited
        /// The view has no size yet: loads wait for one, unless their request has a size of its own, and an image of any size
        /// from the memory cache is shown meanwhile.
        case unknown
        /// A size in pixels of the screen. A size without pixels counts as `unknown`.
        case pixels(PixelSize)
    }

    /// The pipeline that loads.
    public let pipeline: ImagePipeline
    /// The room for the image, unlimited by default. A view that has outgrown its image by a quarter is given a larger one once
    /// its size has been stable for 200 ms; the image stays meanwhile. A request with a size of its own takes no room.
    public var room: Room {
        didSet { if room != oldValue { target.roomChanged() } }
    }
    /// The way in which the view fits the image into its room, `.contain` by default.
    public var contentFit: ContentFit = .contain {
        didSet { if contentFit != oldValue { target.roomChanged() } }
    }
    /// Whether the image can be seen; true by default. Otherwise animations pause and loads come after others.
    public var isVisible = true {
        didSet { (target.isVisible, frames.isVisible) = (isVisible, isVisible) }
    }
    /// The settings with which animations play; nil shows their first frame alone. The files' own by default. They take effect
    /// with the next image.
    public var playback: AnimatedImagePlayer.Configuration? = .init()

    let target: ImageTarget
    private let screen = Screen()
    private let frames: FrameLoop
    private let registrar = ObservationRegistrar()
    private var readers: [Int: AsyncStream<Snapshot>.Continuation] = [:]
    private var lastReader = 0
    private var bound: (request: ImageRequest, options: ImageTarget.Options)?
    /// The end of the last load; nil while it is under way.
    private var end: ImageTarget.End?

    /// Creates a state without an image.
    ///
    /// - Parameters:
    ///   - pipeline: the shared one by default.
    ///   - time: the clock by which animations play; the system's by default.
    public init(pipeline: ImagePipeline = .shared, room: Room = .unlimited, time: TimeSource = .system) {
        self.pipeline = pipeline
        self.room = room
        frames = FrameLoop(time: time)
        target = ImageTarget(surface: screen)
        screen.owner = self
        frames.onFrame = { [weak self] in self?.frameChanged() }
    }

    isolated deinit {
        for reader in readers.values { reader.finish() }
    }

    // MARK: - Loads

    /// Loads the image of a URL; nil, and a text that is no URL, end in a failure.
    ///
    /// Like `load(_:options:)` with a request, it does nothing if it is called again for the same URL.
    public func load(_ url: URL?, options: ImageTarget.Options = .init()) { load(ImageRequest(url), options: options) }

    /// Loads the image of a request, in place of the one that is loading or shown.
    ///
    /// Does nothing for a request that equals the last one, whether that is loading, shown, failed or cancelled: a function that
    /// describes a view may call it each time that it runs. `retry()` and `reload()` load again. Two `ImageModifier`s, or two
    /// hooks, that were made of the same closure are not equal; a request with one is made once and kept.
    ///
    /// - Parameter options: the placeholder, the image after a failure and so on; those of the first call count. Transitions
    ///   are the user interface's own matter and are not shown.
    public func load(_ request: ImageRequest, options: ImageTarget.Options = .init()) {
        guard request != bound?.request else { return }
        bound = (request, options)
        start(request, options)
    }

    /// Loads the request again if its load has failed or was cancelled, even if the failure is one that the pipeline remembers;
    /// otherwise does nothing.
    public func retry() {
        guard let bound else { return }
        switch end {
        case .failed, .cancelled: break
        case .shown, .superseded, nil: return
        }
        var request = bound.request
        request.network.retriesFailures = true
        start(request, bound.options)
    }

    /// Loads the image again from the server; the present one stays meanwhile, and if that fails. Does nothing without a request.
    public func reload() {
        guard bound != nil else { return }
        // A cancelled load has left the target with the image before it.
        if case .cancelled = end { retry() }
        end = nil
        target.reload { [weak self] in self?.ended($0) }
    }

    /// Cancels the load that is under way; what is shown stays, except for a preview.
    public func cancel() { target.cancel() }

    /// Cancels the load that is under way, and shows nothing.
    public func clear() { show(nil) }

    /// Cancels the load that is under way, and shows an image that the program has; nil shows nothing.
    public func show(_ image: Image?) {
        bound = nil
        target.showImage(image)
    }

    private func start(_ request: ImageRequest, _ options: ImageTarget.Options) {
        end = nil
        target.setImage(request, options: options, pipeline: pipeline) { [weak self] in self?.ended($0) }
    }

    private func ended(_ end: ImageTarget.End) {
        // The load that has taken its place is the last one.
        if case .superseded = end { return }
        self.end = end
    }

    // MARK: - State

    /// The request that was bound last; nil after `clear` and `show`.
    public var request: ImageRequest? { bound?.request }

    /// The priority of the loads; nil, the default, is each request's own.
    public var priority: RequestPriority? {
        get { target.priority }
        set { target.priority = newValue }
    }

    /// The state of the load. Observed.
    public var state: ImageTarget.State {
        registrar.access(self, keyPath: \.state)
        return target.state
    }

    /// The content that is shown: the placeholder, a preview, the image, or the one for a failure. Observed.
    public var content: ImageTarget.Content {
        registrar.access(self, keyPath: \.content)
        return target.content
    }

    /// The picture to draw now: that of the content, or the frame of its animation that is due; nil if there is none. Observed.
    public var image: Image? {
        registrar.access(self, keyPath: \.image)
        return picture
    }

    /// The size of `image` in pixels. Observed.
    public var size: PixelSize? { image?.size }

    /// Whether a load is under way or waits for a room. Observed.
    public var isLoading: Bool { state.isLoading }

    /// The progress of the load; nil before the first bytes, and while nothing is loading. Observed.
    public var progress: LoadProgress? { state.progress }

    /// The error of the last load, an `ImagePipelineError`; nil unless it failed. Observed.
    public var error: (any Error)? { state.error }

    /// The player of the animation that is shown; nil for a still image. It is driven by this object: a program may stop it, seek,
    /// or set its rate.
    public var player: AnimatedImagePlayer? { frames.player }

    private var picture: Image? { frames.player?.currentFrame ?? target.content.image }

    // MARK: - Observation

    /// The present state and each later one, until this object is released or the reader's task is cancelled.
    ///
    /// A reader that is slower than the changes gets the newest state and misses those before it. The sequence does not keep
    /// this object alive, but a task whose closure reads the property from it does: read it before, and capture the sequence.
    public var snapshots: AsyncStream<Snapshot> {
        let (stream, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(1))
        lastReader += 1
        let id = lastReader
        readers[id] = continuation
        continuation.onTermination = { [weak self] _ in
            MainInbox.shared.add { self?.readers[id] = nil }
        }
        continuation.yield(snapshot)
        return stream
    }

    /// The number of readers of `snapshots`.
    var readerCount: Int { readers.count }

    private var snapshot: Snapshot { Snapshot(state: target.state, content: target.content, image: picture) }

    private func publish() {
        guard !readers.isEmpty else { return }
        let snapshot = snapshot
        for reader in readers.values { reader.yield(snapshot) }
    }

    /// Tells observers of a property, once it has its new value.
    private func changed<Value>(_ property: KeyPath<RemoteImage, Value>) {
        registrar.withMutation(of: self, keyPath: property) {}
    }

    private func contentChanged(_ content: ImageTarget.Content) {
        frames.show(content, ofLoad: target.loadCount, configuration: playback)
        changed(\.content)
        changed(\.image)
        // A change of the state follows all other content.
        if case .preview = content { publish() }
    }

    private func stateChanged() {
        changed(\.state)
        publish()
    }

    private func frameChanged() {
        changed(\.image)
        publish()
    }
}

extension RemoteImage {
    /// The state at one moment.
    public struct Snapshot: Sendable {
        /// The state of the load.
        public let state: ImageTarget.State
        /// The content that is shown.
        public let content: ImageTarget.Content
        /// The picture to draw: that of the content, or the frame of its animation that is due; nil if there is none.
        public let image: Image?

        /// The size of `image` in pixels.
        public var size: PixelSize? { image?.size }
        /// Whether a load is under way or waits for a room.
        public var isLoading: Bool { state.isLoading }
        /// The progress of the load; nil before the first bytes, and while nothing is loading.
        public var progress: LoadProgress? { state.progress }
        /// The error of the last load, an `ImagePipelineError`; nil unless it failed.
        public var error: (any Error)? { state.error }
    }

    /// The surface of the target. It is an object of its own so that what a target calls is not public.
    private final class Screen: SizedImageSurface {
        weak var owner: RemoteImage?

        var room: ViewRoom? { owner?.viewRoom }

        func show(_ content: ImageTarget.Content) { owner?.contentChanged(content) }

        func stateChanged(_ state: ImageTarget.State) { owner?.stateChanged() }
    }

    private var viewRoom: ViewRoom? {
        switch room {
        case .unlimited: ViewRoom(pixels: PixelSize(.max, .max), fit: contentFit, scaleFactor: 1)
        case .pixels(let size) where size.width > 0 && size.height > 0:
            ViewRoom(pixels: size, fit: contentFit, scaleFactor: 1)
        case .pixels, .unknown: nil
        }
    }
}

extension ImageTarget.State {
    /// Whether a load is under way or waits for a room.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// The progress of the load; nil before the first bytes, and while nothing is loading.
    public var progress: LoadProgress? {
        if case .loading(let progress) = self { progress } else { nil }
    }

    /// The error of the last load, an `ImagePipelineError`; nil unless it failed.
    public var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
