import CGTK

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
    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget]) -> Widget {
        guard let box = gtk_box_new(orientation, spacing) else { preconditionFailure("GTK could not create a widget") }
        for child in children { gtk_box_append(box.cast(), child) }
        return box
    }

    static func label(_ text: String, class name: String? = nil) -> Widget {
        guard let label = gtk_label_new(text) else { preconditionFailure("GTK could not create a widget") }
        gtk_label_set_xalign(label.opaque, 0)
        gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
        if let name { gtk_widget_add_css_class(label, name) }
        return label
    }

    static func button(_ text: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        guard let button = gtk_button_new_with_label(text) else { preconditionFailure("GTK could not create a widget") }
        Event.on(button, "clicked", action)
        return button
    }

    static func iconButton(_ icon: String, tip: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        guard let button = gtk_button_new_from_icon_name(icon) else {
            preconditionFailure("GTK could not create a widget")
        }
        gtk_widget_set_tooltip_text(button, tip)
        Event.on(button, "clicked", action)
        return button
    }

    /// Makes a slider that shows its value.
    static func slider(
        _ range: ClosedRange<Double>, step: Double, at value: Double, _ action: @escaping @MainActor (Double) -> Void
    ) -> Widget {
        guard
            let slider = gtk_scale_new_with_range(
                GTK_ORIENTATION_HORIZONTAL, range.lowerBound, range.upperBound, step)
        else { preconditionFailure("GTK could not create a widget") }
        gtk_range_set_value(slider.cast(), value)
        gtk_scale_set_draw_value(slider.cast(), 1)
        gtk_scale_set_value_pos(slider.cast(), GTK_POS_RIGHT)
        Event.on(slider, "value-changed") { action(gtk_range_get_value(slider.cast())) }
        return slider.expanding(down: false)
    }

    static func check(_ text: String, _ action: @escaping @MainActor (Bool) -> Void) -> Widget {
        guard let check = gtk_check_button_new_with_label(text) else {
            preconditionFailure("GTK could not create a widget")
        }
        Event.on(check, "toggled") { action(gtk_check_button_get_active(check.cast()) != 0) }
        return check
    }

    static func scrolled(_ child: Widget) -> Widget {
        guard let window = gtk_scrolled_window_new() else { preconditionFailure("GTK could not create a widget") }
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

/// A closure that handles a GObject signal, for as long as the object lives.
@MainActor final class Event {
    private let body: @MainActor (UnsafeMutableRawPointer?) -> Void

    private init(_ body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) {
        self.body = body
    }

    /// Connects a closure to a signal without parameters.
    static func on(_ object: Widget, _ name: String, _ body: @escaping @MainActor () -> Void) {
        on(raw: UnsafeMutableRawPointer(object), name, body)
    }

    static func on(raw object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void) {
        let call: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in Event.call(data, nil) }
        connect(object, name, unsafeBitCast(call, to: GCallback.self), Event { _ in body() })
    }

    /// Connects a closure to a signal with one parameter, which is a pointer or a number in place of one.
    static func on(
        raw object: UnsafeMutableRawPointer, _ name: String,
        with body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void
    ) {
        let call: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, value, data in Event.call(data, value)
        }
        connect(object, name, unsafeBitCast(call, to: GCallback.self), Event(body))
    }

    private static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ callback: GCallback, _ event: Event
    ) {
        let forget: GClosureNotify = { data, _ in
            if let data { Unmanaged<Event>.fromOpaque(data).release() }
        }
        g_signal_connect_data(
            object, name, callback, Unmanaged.passRetained(event).toOpaque(), forget, GConnectFlags(rawValue: 0))
    }

    private nonisolated static func call(_ data: gpointer?, _ value: gpointer?) {
        guard let data else { return }
        let event = Unmanaged<Event>.fromOpaque(data).takeUnretainedValue()
        let value = UInt(bitPattern: value)
        MainActor.assumeIsolated { event.body(UnsafeMutableRawPointer(bitPattern: value)) }
    }
}
