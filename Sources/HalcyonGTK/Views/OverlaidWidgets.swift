import CGTK
import Halcyon

/// What tells that an image is loading, over the middle of a view.
@MainActor public struct Indicator: Sendable {
    /// Makes the widget: each time that a load begins, without a parent.
    public var make: @MainActor () -> UnsafeMutablePointer<GtkWidget>
    /// Called with the widget and the progress each time that bytes have arrived; nil is not known.
    public var update: @MainActor (UnsafeMutablePointer<GtkWidget>, Double?) -> Void

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

    /// A bar that fills; it moves to and fro while the end is not known.
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
            view.staysWithItsWidget()
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

/// A placeholder that is any widget.
@MainActor public final class WidgetPlaceholder {
    let make: @MainActor () -> UnsafeMutablePointer<GtkWidget>

    /// - Parameter make: called each time that the placeholder is to be seen; a new widget, without a parent.
    public init(_ make: @escaping @MainActor () -> UnsafeMutablePointer<GtkWidget>) {
        self.make = make
    }
}

extension ImageTarget.Placeholder {
    /// A widget, made each time that the placeholder is to be seen.
    @MainActor public static func widget(_ make: @escaping @MainActor () -> UnsafeMutablePointer<GtkWidget>) -> Self {
        .custom(WidgetPlaceholder(make))
    }
}
