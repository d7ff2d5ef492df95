import CGTK
import Halcyon

/// A loading indicator over the centre of a view.
///
///     var indicator = Indicator.progressBar
///     indicator.size = .fixed(width: 120, height: 8)
///     indicator.offset = (x: 0, y: 40)
@MainActor public struct Indicator: Sendable {
    /// The size of an indicator.
    public enum Size: Sendable {
        /// The size that the widget has by itself.
        case natural
        /// The size of the view; the offset has no effect.
        case full
        /// A size in units of the view, or the smallest that the widget can have if that is larger. Each number counts as
        /// one from 0 to 32,767, the largest that GTK takes as a margin.
        case fixed(width: Int, height: Int)
    }

    /// Creates the widget, without a parent; called at the start of each load.
    public var make: @MainActor () -> UnsafeMutablePointer<GtkWidget>
    /// Called with the widget and the progress each time that bytes have arrived; the progress is nil if it is not known.
    public var update: @MainActor (UnsafeMutablePointer<GtkWidget>, Double?) -> Void

    /// The size, natural by default. With it, and without an offset, the widget keeps the alignment that it was made with.
    public var size: Size = .natural
    /// The distance of the indicator's centre from that of the view, in units to the right and downwards, at most 16,383 in
    /// each direction; (0, 0) by default.
    public var offset: (x: Int, y: Int) = (0, 0)

    /// Creates an indicator of any widget.
    public init(
        make: @escaping @MainActor () -> UnsafeMutablePointer<GtkWidget>,
        update: @escaping @MainActor (UnsafeMutablePointer<GtkWidget>, Double?) -> Void = { _, _ in }
    ) {
        self.make = make
        self.update = update
    }

    /// A spinner.
    public static let spinner = Indicator(make: {
        let widget = centered(gtk_spinner_new())
        gtk_spinner_start(OpaquePointer(widget))
        return widget
    })

    /// A progress bar, which moves to and fro while the progress is not known.
    public static let progressBar = Indicator(
        make: {
            let widget = centered(gtk_progress_bar_new())
            gtk_widget_set_size_request(widget, 80, -1)
            return widget
        },
        update: { widget, progress in
            if let progress {
                gtk_progress_bar_set_fraction(OpaquePointer(widget), progress)
            } else {
                gtk_progress_bar_pulse(OpaquePointer(widget))
            }
        })

    /// An image, which plays if it is an animation.
    public static func image(_ image: Image) -> Indicator {
        Indicator(make: {
            let view = ImageView()
            view.showImage(image)
            view.attachToWidget()
            return centered(view.widget)
        })
    }

    /// Makes the widget with its size and place in an overlay.
    func makePlaced() -> UnsafeMutablePointer<GtkWidget> {
        let widget = make()
        switch size {
        case .full:
            gtk_widget_set_halign(widget, GTK_ALIGN_FILL)
            gtk_widget_set_valign(widget, GTK_ALIGN_FILL)
            return widget
        case .natural where offset == (0, 0): return widget
        case .natural: break
        case .fixed(let width, let height):
            gtk_widget_set_size_request(widget, Self.length(width), Self.length(height))
        }
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        // A margin moves a centred widget by half of it.
        let x = 2 * min(max(-16_383, offset.x), 16_383)
        let y = 2 * min(max(-16_383, offset.y), 16_383)
        let isMirrored = gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL
        gtk_widget_set_margin_start(widget, Self.length(isMirrored ? -x : x))
        gtk_widget_set_margin_end(widget, Self.length(isMirrored ? x : -x))
        gtk_widget_set_margin_top(widget, Self.length(y))
        gtk_widget_set_margin_bottom(widget, Self.length(-y))
        return widget
    }

    private static func length(_ units: Int) -> Int32 { Int32(min(max(0, units), 32_767)) }

    private static func centered(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkWidget> {
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_can_target(widget, 0)
        return widget
    }
}

/// A placeholder that is a widget.
struct WidgetPlaceholder: Sendable {
    let make: @MainActor () -> UnsafeMutablePointer<GtkWidget>
}

extension ImageTarget.Placeholder {
    /// Returns a placeholder that is a widget.
    ///
    /// - Parameter make: creates a new widget without a parent; called each time that the placeholder is shown.
    public static func widget(_ make: @escaping @MainActor () -> UnsafeMutablePointer<GtkWidget>) -> Self {
        .custom(WidgetPlaceholder(make: make))
    }
}
