import CGTK
import Halcyon

/// A loading indicator over the centre of a view.
@MainActor public struct Indicator: Sendable {
    /// Creates the widget, without a parent; called at the start of each load.
    public var make: @MainActor () -> UnsafeMutablePointer<GtkWidget>
    /// Called with the widget and the progress each time that bytes have arrived; the progress is nil if it is not known.
    public var update: @MainActor (UnsafeMutablePointer<GtkWidget>, Double?) -> Void

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
