import CGTK

/// Counts the widgets that are still alive.
@MainActor final class WidgetCensus {
    /// The number of living widgets by the name of their type.
    private(set) var living: [String: Int] = [:]

    var count: Int { living.values.reduce(0, +) }

    /// The entry of one widget, for as long as the widget lives.
    @MainActor private final class Entry {
        let census: WidgetCensus
        let type: String

        init(_ census: WidgetCensus, _ type: String) {
            (self.census, self.type) = (census, type)
        }

        func end() {
            census.living[type, default: 0] -= 1
            if census.living[type] == 0 { census.living[type] = nil }
        }
    }

    /// Starts to count a widget and its descendants, except GTK's own tooltip window, which all windows share.
    func add(_ widget: Widget) {
        let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
        let type = g_type_name(object.pointee.g_type_instance.g_class.pointee.g_type).map { String(cString: $0) } ?? "?"
        guard type != "GtkTooltipWindow" else { return }
        living[type, default: 0] += 1
        let notify: GWeakNotify = { data, _ in
            guard let data else { return }
            let entry = Unmanaged<Entry>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated { entry.end() }
        }
        g_object_weak_ref(object, notify, Unmanaged.passRetained(Entry(self, type)).toOpaque())
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            add(next)
            child = gtk_widget_get_next_sibling(next)
        }
    }
}
