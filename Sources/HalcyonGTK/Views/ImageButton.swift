import CGTK
import CHalcyonGTK
import Halcyon

/// A button with an image and a background for each of its states, each with a load of its own.
///
///     let button = ImageButton()
///     button.image().setImage(from: play)
///     button.image(for: .hover).setImage(from: playLit)
///
/// A state without an image shows that of `.normal`. The object owns its widget, and must be kept for as long as the widget is
/// to show anything; the object of `ImageButton.of(_:)` stays with its button.
@MainActor public final class ImageButton {
    /// The state of a button.
    public enum State: Sendable, Hashable, CaseIterable {
        /// None of the others.
        case normal
        /// The pointer is over the button.
        case hover
        /// The button is held down.
        case active
        /// The button is a toggle button that is on.
        case checked
        /// The button does not react to the user.
        case insensitive
    }

    /// The `GtkButton`.
    public let widget: UnsafeMutablePointer<GtkWidget>
    private let layers: ViewLayers<State>
    private let isKept: Bool
    private var signals: [Signal] = []

    /// - Parameter isToggle: whether the widget is a `GtkToggleButton`, which stays on; false by default.
    public convenience init(isToggle: Bool = false) {
        let widget = isToggle ? gtk_toggle_button_new() : gtk_button_new()
        // GTK returns a widget, or ends the program.
        self.init(adopting: widget ?? gtk_button_new(), isKept: true)
    }

    private init(adopting widget: UnsafeMutablePointer<GtkWidget>, isKept: Bool) {
        (self.widget, self.isKept) = (widget, isKept)
        if isKept { g_object_ref_sink(widget) }
        let host = ViewHost()
        layers = ViewLayers(host, wanted: [.normal])
        gtk_button_set_child(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self), host.overlay)
        signals = [Signal(widget, "state-flags-changed") { [weak self] in self?.stateChanged() }]
        signals.append(Signal(widget, "destroy") { [weak self] in self?.signals = [] })
        if isKept { Attachment.note(self, on: widget) }
        stateChanged()
    }

    isolated deinit {
        signals.end()
        if isKept { g_object_unref(widget) }
    }

    /// Returns the `ImageButton` of a button, its own or a `GtkButton` that the program created, for which the first call
    /// creates it, replaces the button's child and leaves it to the button. Returns nil for any other widget and for a button
    /// that has an `ImageView`.
    public static func of(_ button: UnsafeMutablePointer<GtkWidget>) -> ImageButton? {
        guard halcyon_widget_kind(button) == HALCYON_WIDGET_BUTTON else { return nil }
        return Attachment.of(button) { ImageButton(adopting: button, isKept: false) }
    }

    /// The current state: if several apply, the last in the order of the cases.
    public private(set) var state: State = .normal

    /// Returns the layer of the image of a state.
    public func image(for state: State = .normal) -> ImageLayer { layers.image(state) }

    /// Returns the layer of the background of a state, beneath the image.
    public func background(for state: State = .normal) -> ImageLayer { layers.background(state) }

    private func stateChanged() {
        let flags = gtk_widget_get_state_flags(widget).rawValue
        let marks: [(GtkStateFlags, State)] = [
            (GTK_STATE_FLAG_INSENSITIVE, .insensitive), (GTK_STATE_FLAG_CHECKED, .checked),
            (GTK_STATE_FLAG_ACTIVE, .active), (GTK_STATE_FLAG_PRELIGHT, .hover),
        ]
        let states = marks.filter { flags & $0.0.rawValue != 0 }.map(\.1)
        state = states.first ?? .normal
        layers.wanted = states + [.normal]
    }
}
