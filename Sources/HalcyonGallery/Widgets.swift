import CGTK
import HalcyonGTK

/// A GTK widget; the extension and `Make` wrap the part of GTK that the gallery uses.
typealias Widget = UnsafeMutablePointer<GtkWidget>

extension UnsafeMutablePointer<GtkWidget> {
    /// Returns the same pointer as another of the object's types.
    func cast<Type>() -> UnsafeMutablePointer<Type> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Type.self)
    }

    /// The same pointer for a type that C declares as opaque.
    var opaque: OpaquePointer { OpaquePointer(self) }

    func addClass(_ name: String) -> Widget {
        gtk_widget_add_css_class(self, name)
        return self
    }

    /// Makes the widget take all available space.
    func expanding(across: Bool = true, down: Bool = true) -> Widget {
        gtk_widget_set_hexpand(self, across ? 1 : 0)
        gtk_widget_set_vexpand(self, down ? 1 : 0)
        return self
    }

    func margins(_ size: Int32) -> Widget {
        gtk_widget_set_margin_start(self, size)
        gtk_widget_set_margin_end(self, size)
        gtk_widget_set_margin_top(self, size)
        gtk_widget_set_margin_bottom(self, size)
        return self
    }
}

@MainActor enum Make {
    /// Returns the object that one of GTK's functions created; they end the program rather than return nil.
    static func made<Object>(_ object: Object?) -> Object {
        guard let object else { preconditionFailure("GTK could not create an object") }
        return object
    }

    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget]) -> Widget {
        let box = made(gtk_box_new(orientation, spacing))
        for child in children { gtk_box_append(box.cast(), child) }
        return box
    }

    static func label(_ text: String, class name: String? = nil) -> Widget {
        let label = made(gtk_label_new(text))
        gtk_label_set_xalign(label.opaque, 0)
        gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
        if let name { gtk_widget_add_css_class(label, name) }
        return label
    }

    static func button(_ text: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        let button = made(gtk_button_new_with_label(text))
        Signal(button, "clicked", action)
        return button
    }

    static func iconButton(_ icon: String, tip: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        let button = made(gtk_button_new_from_icon_name(icon))
        gtk_widget_set_tooltip_text(button, tip)
        Signal(button, "clicked", action)
        return button
    }

    /// Makes a slider that shows its value.
    static func slider(
        _ range: ClosedRange<Double>, step: Double, at value: Double, _ action: @escaping @MainActor (Double) -> Void
    ) -> Widget {
        let slider = made(
            gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, range.lowerBound, range.upperBound, step))
        gtk_range_set_value(slider.cast(), value)
        gtk_scale_set_draw_value(slider.cast(), 1)
        gtk_scale_set_value_pos(slider.cast(), GTK_POS_RIGHT)
        Signal(slider, "value-changed") { action(gtk_range_get_value(slider.cast())) }
        return slider.expanding(down: false)
    }

    static func check(_ text: String, _ action: @escaping @MainActor (Bool) -> Void) -> Widget {
        let check = made(gtk_check_button_new_with_label(text))
        Signal(check, "toggled") { action(gtk_check_button_get_active(check.cast()) != 0) }
        return check
    }

    static func scrolled(_ child: Widget) -> Widget {
        let window = made(gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(window.opaque, child)
        return window.expanding()
    }

    /// Makes a heading with the widgets below it.
    static func section(_ title: String, _ children: [Widget]) -> Widget {
        box(GTK_ORIENTATION_VERTICAL, spacing: 6, [label(title, class: "heading")] + children)
    }

    static func row(_ title: String, _ child: Widget) -> Widget {
        let name = label(title, class: "dim-label")
        gtk_widget_set_size_request(name, 88, -1)
        return box(GTK_ORIENTATION_HORIZONTAL, spacing: 8, [name, child])
    }
}

extension ImageView {
    var isLoading: Bool {
        if case .loading = state { true } else { false }
    }
}
