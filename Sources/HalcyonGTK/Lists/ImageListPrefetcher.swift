import CGTK
import CHalcyonGTK
import Halcyon

/// Loads the images that come next while a `GtkListView`, `GtkGridView` or `GtkColumnView` is scrolled.
///
///     let prefetcher = ImageListPrefetcher(list) { position in
///         [ImageRequest(photos[position].url).fitting(width: 150, height: 130, contentFit: .cover)]
///     }
///
/// Ask for what the cells ask for, their size and processors included: only that is found there. What is no longer ahead is
/// dropped; what has come into sight meanwhile is loaded to its end. Where a list stands is reckoned as if all of its items
/// were of one size. It looks once a frame at most, and not while the list is not on screen.
///
/// Keep the object for as long as it is to work. It does not keep the list, and ends with it.
@MainActor public final class ImageListPrefetcher {
    public let pipeline: ImagePipeline
    public let configuration: Configuration

    private let requests: @MainActor (Int) -> [ImageRequest]
    private var handlers: [Signal] = []
    /// Nil once it is destroyed, or nothing is wanted any more.
    private var list: UnsafeMutablePointer<GtkWidget>?
    private var adjustment: WatchedAdjustment?
    private var model: ListModelWatch?
    private var ticks: FrameTicks?
    private var plan = ListPlan<ImagePrefetcher>()
    private var direction = ListWindow.Direction.forward
    /// Where the list stood; nil where its items have changed since.
    private var first: Int?

    /// - Parameters:
    ///   - list: a `GtkScrollable` with a `model`. No reference of it is kept.
    ///   - pipeline: the shared one by default.
    ///   - requests: the images of the item at a position. Called on the main actor, once for each that comes ahead.
    public init(
        _ list: UnsafeMutablePointer<GtkWidget>, pipeline: ImagePipeline = .shared,
        configuration: Configuration = Configuration(), requests: @escaping @MainActor (Int) -> [ImageRequest]
    ) {
        self.list = list
        self.pipeline = pipeline
        self.configuration = configuration
        self.requests = requests
        ticks = FrameTicks(list) { [weak self] _ in
            self?.look()
            return false
        }
        handlers.append(Signal(list, "destroy") { [weak self] in self?.stop() })
        handlers.append(Signal(list, "map") { [weak self] in self?.scheduleLook() })
        handlers.append(Signal(list, "unmap") { [weak self] in self?.rest() })
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

    /// Ends it for good; what is being loaded is cancelled, unless others want it too.
    public func stop() {
        guard list != nil else { return }
        rest()
        list = nil
        ticks = nil
        handlers.end()
        (adjustment, model) = (nil, nil)
    }

    /// Positions whose images are being loaded.
    var runningPositions: [Int] { plan.runningPositions }

    /// Whether it looks again before the next frame.
    private(set) var isLookScheduled = false

    // MARK: - What changes

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
        scheduleLook()
    }

    private func itemsChanged(_ position: Int, _ removed: Int, _ added: Int) {
        drop(plan.replace(position, removed: removed, added: added))
        first = nil
        scheduleLook()
    }

    private func adjustmentChanged() {
        guard let list else { return }
        adjustment = halcyon_list_adjustment(list).map { pointer in
            WatchedAdjustment(
                GObjectReference(taking: UnsafeMutableRawPointer(pointer)),
                onScroll: { [weak self] in self?.scheduleLook() }, onChange: { [weak self] in self?.scheduleLook() })
        }
        scheduleLook()
    }

    private func scheduleLook() {
        guard let list, gtk_widget_get_mapped(list) != 0 else { return }
        isLookScheduled = true
        ticks?.start()
    }

    private func rest() {
        isLookScheduled = false
        ticks?.stop()
        drop(plan.clear())
        first = nil
    }

    // MARK: - The work

    private func look() {
        isLookScheduled = false
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
            // The program may have changed the list, or ended this.
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
        // A look that is to come knows better what is next.
        if !isLookScheduled { fill() }
    }

    private func drop(_ prefetchers: [ImagePrefetcher]) {
        for prefetcher in prefetchers { prefetcher.stop() }
    }
}

extension ImageListPrefetcher {
    /// How far ahead images are loaded, and how.
    public struct Configuration: Sendable, Hashable {
        /// How many times as many items as are seen; 1 by default.
        public var screens: Double
        /// The most items ahead, 100 by default.
        public var maximumItems: Int
        /// Items whose images are loaded at the same time, at least 1; 5 by default.
        public var concurrency: Int
        /// `.low` by default, behind what is seen.
        public var priority: RequestPriority

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
