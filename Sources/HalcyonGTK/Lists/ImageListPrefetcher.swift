import CGTK
import CHalcyonGTK
import Halcyon

/// Prefetches the images of the items that come next while a `GtkListView`, `GtkGridView` or `GtkColumnView` is scrolled.
///
///     let prefetcher = ImageListPrefetcher(list) { position in
///         [ImageRequest(photos[position].url).fitting(width: 150, height: 130, contentFit: .cover)]
///     }
///
/// Make the same requests as the cells, with their size and processors: a cell finds only an image of the same request in the
/// cache. Loads of items that are no longer ahead are stopped; loads of items that have become visible meanwhile run to their
/// end. The position of the list is an estimate that takes all of its items to be of one size. The prefetcher updates at most
/// once a frame, and not while the list is unmapped.
///
/// Keep the prefetcher for as long as it is to work. It holds no reference to the list, and stops when the list is destroyed.
@MainActor public final class ImageListPrefetcher {
    private let pipeline: ImagePipeline
    private let configuration: Configuration
    private let requests: @MainActor (Int) -> [ImageRequest]
    private var handlers: [Signal] = []
    /// Nil once the list is destroyed or the prefetcher is stopped.
    private var list: UnsafeMutablePointer<GtkWidget>?
    private var adjustment: WatchedAdjustment?
    private var model: ListModelWatch?
    private var ticks: FrameTicks?
    private var plan = ListPlan<ImagePrefetcher>()
    private var direction = ListWindow.Direction.forward
    /// The first visible position at the last update; nil if the items have changed since.
    private var first: Int?

    /// - Parameters:
    ///   - list: a `GtkScrollable` with a `model`. No reference to it is kept.
    ///   - pipeline: the pipeline that loads the images; the shared one by default.
    ///   - requests: returns the requests of the item at a position. Called on the main actor, once for each item that comes
    ///     ahead.
    public init(
        _ list: UnsafeMutablePointer<GtkWidget>, pipeline: ImagePipeline = .shared,
        configuration: Configuration = Configuration(), requests: @escaping @MainActor (Int) -> [ImageRequest]
    ) {
        self.list = list
        self.pipeline = pipeline
        self.configuration = configuration
        self.requests = requests
        ticks = FrameTicks(list) { [weak self] _ in
            self?.update()
            return false
        }
        handlers.append(Signal(list, "destroy") { [weak self] in self?.stop() })
        handlers.append(Signal(list, "map") { [weak self] in self?.scheduleUpdate() })
        handlers.append(Signal(list, "unmap") { [weak self] in self?.pause() })
        handlers.append(Signal(list, "notify::model") { [weak self] in self?.modelChanged() })
        for name in ["vadjustment", "hadjustment", "orientation"] {
            handlers.append(Signal(list, "notify::\(name)") { [weak self] in self?.adjustmentChanged() })
        }
        modelChanged()
        adjustmentChanged()
    }

    isolated deinit {
        stop()
    }

    /// Stops the prefetcher for good and cancels its loads, except those that have other subscribers.
    public func stop() {
        guard list != nil else { return }
        pause()
        list = nil
        ticks = nil
        handlers.end()
        (adjustment, model) = (nil, nil)
    }

    /// The positions whose images are being loaded.
    var runningPositions: [Int] { plan.runningPositions }

    /// Whether an update is scheduled for the next frame.
    private(set) var isUpdateScheduled = false

    // MARK: - Changes of the list

    private func modelChanged() {
        guard let list else { return }
        drop(plan.clear())
        first = nil
        model = halcyon_list_model(list).map { pointer in
            ListModelWatch(GObjectReference(taking: UnsafeMutableRawPointer(pointer))) {
                [weak self] position, removed, added in
                self?.itemsChanged(position, removed, added)
            }
        }
        scheduleUpdate()
    }

    private func itemsChanged(_ position: Int, _ removed: Int, _ added: Int) {
        drop(plan.replace(position, removed: removed, added: added))
        first = nil
        scheduleUpdate()
    }

    private func adjustmentChanged() {
        guard let list else { return }
        adjustment = halcyon_list_adjustment(list).map { pointer in
            WatchedAdjustment(
                GObjectReference(taking: UnsafeMutableRawPointer(pointer)),
                onScroll: { [weak self] in self?.scheduleUpdate() }, onChange: { [weak self] in self?.scheduleUpdate() }
            )
        }
        scheduleUpdate()
    }

    private func scheduleUpdate() {
        guard let list, gtk_widget_get_mapped(list) != 0 else { return }
        isUpdateScheduled = true
        ticks?.start()
    }

    private func pause() {
        isUpdateScheduled = false
        ticks?.stop()
        drop(plan.clear())
        first = nil
    }

    // MARK: - Loading

    private func update() {
        isUpdateScheduled = false
        guard let list, gtk_widget_get_mapped(list) != 0, let adjustment, let model else { return }
        let pointer = adjustment.pointer
        let window = ListWindow(
            value: gtk_adjustment_get_value(pointer), lower: gtk_adjustment_get_lower(pointer),
            upper: gtk_adjustment_get_upper(pointer), pageSize: gtk_adjustment_get_page_size(pointer),
            count: model.count)
        if let first, first != window.visible.lowerBound {
            direction = first < window.visible.lowerBound ? .forward : .backward
        }
        first = window.visible.lowerBound
        let ahead = window.ahead(direction, screens: configuration.screens, limit: configuration.maximumItems)
        drop(plan.move(to: ahead, visible: window.visible))
        fill()
    }

    private func fill() {
        while list != nil, let position = plan.next(atMost: configuration.concurrency) {
            let revision = plan.revision
            let requests = requests(position)
            // `requests` may have changed the list, or stopped this prefetcher.
            guard plan.revision == revision else { continue }
            guard !requests.isEmpty else {
                plan.start(position, nil)
                continue
            }
            let prefetcher = ImagePrefetcher(
                requests, pipeline: pipeline, destination: .memory, concurrency: 1, priority: configuration.priority)
            plan.start(position, prefetcher)
            prefetcher.start()
            Task.detached { [weak self] in
                _ = try? await prefetcher.outcome
                MainInbox.shared.add { self?.ended(prefetcher) }
            }
        }
    }

    private func ended(_ prefetcher: ImagePrefetcher) {
        plan.end(prefetcher)
        // A scheduled update chooses the next items itself, from newer positions.
        if !isUpdateScheduled { fill() }
    }

    private func drop(_ prefetchers: [ImagePrefetcher]) {
        for prefetcher in prefetchers { prefetcher.stop() }
    }
}

extension ImageListPrefetcher {
    /// The range of items that are prefetched, and how they are loaded.
    public struct Configuration: Sendable, Hashable {
        /// The number of items ahead, as a multiple of the visible items; 1 by default.
        public var screens: Double
        /// The maximum number of items ahead; 100 by default.
        public var maximumItems: Int
        /// The maximum number of items whose images are loaded at the same time, at least 1; 5 by default.
        public var concurrency: Int
        /// The priority of the loads; `.low` by default, below that of visible images.
        public var priority: RequestPriority

        /// Creates a configuration; omitted arguments take the defaults that the properties state.
        public init(
            screens: Double = 1, maximumItems: Int = 100, concurrency: Int = 5, priority: RequestPriority = .low
        ) {
            self.screens = screens
            self.maximumItems = maximumItems
            self.concurrency = max(1, concurrency)
            self.priority = priority
        }
    }
}
