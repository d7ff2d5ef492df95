import CGTK
import Halcyon

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
