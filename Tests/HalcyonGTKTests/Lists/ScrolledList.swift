import CGTK
import Foundation
import Testing

/// A `GtkListView`, or a `GtkGridView`, of names in a window, whose rows are of one height.
@MainActor final class ScrolledList {
    let list: UnsafeMutablePointer<GtkWidget>
    private let names: OpaquePointer
    private let window: Window

    /// - Parameter columns: nil is a list, any number a grid.
    init(count: Int, columns: guint? = nil, rowHeight: Int32 = 20) throws {
        try Window.requireScreen()
        names = try #require(gtk_string_list_new(nil))
        for number in 0..<count { gtk_string_list_append(names, "\(number)") }
        let factory = try #require(gtk_signal_list_item_factory_new())
        let setup: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, item, data in
            let row = gtk_label_new("")
            gtk_widget_set_size_request(row, 50, Int32(Int(bitPattern: data)))
            gtk_list_item_set_child(item, row)
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(factory), "setup", unsafeBitCast(setup, to: GCallback.self),
            UnsafeMutableRawPointer(bitPattern: Int(rowHeight)), nil, GConnectFlags(rawValue: 0))
        g_object_ref(UnsafeMutableRawPointer(names))
        let model = gtk_no_selection_new(names)
        if let columns {
            list = try #require(gtk_grid_view_new(model, factory))
            gtk_grid_view_set_min_columns(OpaquePointer(list), columns)
            gtk_grid_view_set_max_columns(OpaquePointer(list), columns)
        } else {
            list = try #require(gtk_list_view_new(model, factory))
        }
        let scrolled = try #require(gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), list)
        window = try Window(scrolled)
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(names))
    }

    func show() { window.show() }
    func hide() { window.hide() }
    func close() { window.close() }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment> {
        get throws { try #require(gtk_scrollable_get_vadjustment(OpaquePointer(list))) }
    }

    /// In rows, which are all of one height.
    private func rows(_ length: Double) throws -> Double {
        let count = Double(g_list_model_get_n_items(names))
        return length / (gtk_adjustment_get_upper(try adjustment) / count)
    }

    /// Rows of which something is seen; none before the first layout.
    var visible: Range<Int> {
        get throws {
            guard gtk_adjustment_get_upper(try adjustment) > 0 else { return 0..<0 }
            let (value, page) = try (gtk_adjustment_get_value(adjustment), gtk_adjustment_get_page_size(adjustment))
            return try Int((rows(value) + 0.01).rounded(.down))..<Int((rows(value + page) - 0.01).rounded(.up))
        }
    }

    /// - Parameter row: comes to the top.
    func scroll(to row: Int) throws {
        let height = try gtk_adjustment_get_upper(adjustment) / Double(g_list_model_get_n_items(names))
        gtk_adjustment_set_value(try adjustment, height * Double(row))
    }

    /// The name at a position.
    func name(_ position: Int) -> String {
        gtk_string_list_get_string(names, guint(position)).map { String(cString: $0) } ?? ""
    }

    func insert(_ name: String, at position: Int) {
        name.withCString { text in
            var additions: [UnsafePointer<CChar>?] = [text, nil]
            gtk_string_list_splice(names, guint(position), 0, &additions)
        }
    }

    func remove(at position: Int) {
        gtk_string_list_splice(names, guint(position), 1, nil)
    }
}
