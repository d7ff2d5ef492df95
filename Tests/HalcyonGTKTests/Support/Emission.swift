import CGTK
import Testing

/// Signals of the program's own objects, as the desktop would have them come.
enum Emission {
    /// `low-memory-warning`, of 0 to 255.
    static func lowMemory(_ level: Int32) throws {
        let monitor = try #require(g_memory_monitor_dup_default())
        defer { g_object_unref(UnsafeMutableRawPointer(monitor)) }
        var value = GValue()
        g_value_init(&value, g_memory_monitor_warning_level_get_type())
        g_value_set_enum(&value, level)
        emit("low-memory-warning", of: UnsafeMutableRawPointer(monitor), g_memory_monitor_get_type(), [value])
    }

    /// `network-changed`.
    static func network(isOnline: Bool) throws {
        let monitor = try #require(g_network_monitor_get_default())
        var value = GValue()
        g_value_init(&value, g_type_from_name("gboolean"))
        g_value_set_boolean(&value, isOnline ? 1 : 0)
        emit("network-changed", of: UnsafeMutableRawPointer(monitor), g_network_monitor_get_type(), [value])
    }

    /// `pressed`, twice, of what listens to clicks on a widget.
    @MainActor static func doubleClick(on widget: UnsafeMutablePointer<GtkWidget>, x: Double, y: Double) throws {
        var count = GValue()
        g_value_init(&count, g_type_from_name("gint"))
        g_value_set_int(&count, 2)
        try gesture(gtk_gesture_click_get_type(), "pressed", on: widget, [x, y], first: [count])
    }

    /// A signal of the controllers of a type on a widget.
    @MainActor static func gesture(
        _ type: GType, _ name: String, on widget: UnsafeMutablePointer<GtkWidget>, _ numbers: [Double],
        first: [GValue] = []
    ) throws {
        let controllers = gtk_widget_observe_controllers(widget)
        defer { g_object_unref(controllers.map { UnsafeMutableRawPointer($0) }) }
        let all = (0..<g_list_model_get_n_items(controllers)).compactMap { g_list_model_get_item(controllers, $0) }
        defer { all.forEach { g_object_unref($0) } }
        var values = [GValue](repeating: GValue(), count: numbers.count)
        for (index, number) in numbers.enumerated() {
            g_value_init(&values[index], g_type_from_name("gdouble"))
            g_value_set_double(&values[index], number)
        }
        let isKind = { (controller: UnsafeMutableRawPointer) in
            g_type_check_instance_is_a(controller.assumingMemoryBound(to: GTypeInstance.self), type) != 0
        }
        try #require(all.contains(where: isKind))
        for controller in all where isKind(controller) { emit(name, of: controller, type, first + values) }
    }

    private static func emit(_ name: String, of object: UnsafeMutableRawPointer, _ type: GType, _ parameters: [GValue])
    {
        var values = [GValue()] + parameters
        g_value_init(&values[0], g_object_get_type())
        g_value_set_object(&values[0], object)
        g_signal_emitv(values, g_signal_lookup(name, type), 0, nil)
        for index in values.indices { g_value_unset(&values[index]) }
    }
}
