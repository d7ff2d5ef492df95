import CGTK
import CHalcyonGTKC
import Foundation
import Halcyon
import HalcyonGTK

/// The settings of a view that C code has made, and its callback. It belongs to the widget, which owns the view as well.
@MainActor final class AttachedView {
    /// The view; nil once its widget was destroyed.
    private weak var view: ImageView?
    private var address = Address.none
    private var callback: LoadCallback?
    private var placeholder: Image?
    private var failure: Image?

    private enum Address {
        case none
        case source(ImageSource)
    }

    private static let key = "halcyon-c-view"

    private init(_ view: ImageView) {
        self.view = view
    }

    /// Returns the view of a widget; nil for any other widget, and for one that was destroyed.
    static func of(_ widget: UnsafeMutablePointer<GtkWidget>?) -> AttachedView? {
        guard let widget, isWidget(widget), let data = g_object_get_data(object(widget), key) else { return nil }
        let attached = Unmanaged<AttachedView>.fromOpaque(data).takeUnretainedValue()
        return attached.view == nil ? nil : attached
    }

    /// Creates a view with a widget of its own, whose reference is floating.
    static func make() -> (AttachedView, UnsafeMutablePointer<GtkWidget>) {
        let view = ImageView()
        // Before the widget gets the view: from then on nothing else holds it.
        let attached = attach(view)
        view.attachToWidget()
        return (attached, view.widget)
    }

    /// Returns the view of a widget of the program; nil for a widget that cannot show an image.
    static func adopt(_ widget: UnsafeMutablePointer<GtkWidget>) -> AttachedView? {
        guard isWidget(widget) else { return nil }
        return of(widget) ?? ImageView.of(widget).map(attach)
    }

    private static func attach(_ view: ImageView) -> AttachedView {
        let attached = AttachedView(view)
        let release: GDestroyNotify = { data in
            if let data { Unmanaged<AttachedView>.fromOpaque(data).release() }
        }
        g_object_set_data_full(object(view.widget), key, Unmanaged.passRetained(attached).toOpaque(), release)
        return attached
    }

    private static func isWidget(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        let instance = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self)
        return g_type_check_instance_is_a(instance, gtk_widget_get_type()) != 0
    }

    private static func object(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
    }

    // MARK: - Settings

    /// Loads a source; nil shows the placeholder alone.
    func show(_ source: ImageSource?) {
        address = source.map { .source($0) } ?? .none
        apply()
    }

    /// Shows an image until that of the URL is there.
    func setPlaceholder(_ image: Image?) {
        placeholder = image
        applyToLoad()
    }

    /// Shows an image for a load that fails.
    func setFailure(_ image: Image?) {
        failure = image
        applyToLoad()
    }

    /// Calls a function at the end of each load; nil calls none.
    func setCallback(_ callback: LoadCallback?) {
        // The former one's data is freed once this object has the new one, since the program's function may ask for it.
        let former = self.callback
        self.callback = callback
        withExtendedLifetime(former) {}
    }

    func setContentFit(_ fit: ContentFit) { view?.contentFit = fit }

    func reload() {
        guard case .source = address else { return }
        view?.reload { [weak self] in self?.ended($0) }
    }

    func cancel() { view?.cancel() }

    // MARK: - Loads

    private func apply() {
        guard let view else { return }
        guard case .source(let source) = address else { return view.showImage(placeholder) }
        let options = ImageTarget.Options(
            placeholder: placeholder.map { .image($0) }, failure: failure.map { .image($0) } ?? .placeholder)
        view.setImage(ImageRequest(source), options: options) { [weak self] in self?.ended($0) }
    }

    /// Begins a load that is under way again, for other options; what it has received is shared. An image that is shown stays.
    private func applyToLoad() {
        switch (address, view?.state) {
        case (.none, _), (_, .loading): apply()
        default: break
        }
    }

    private func ended(_ end: ImageTarget.End) {
        switch end {
        case .shown(let response): report(response.image.size, nil)
        case .failed(let error): report(PixelSize(0, 0), "\(error)")
        case .cancelled, .superseded: break
        }
    }

    private func report(_ size: PixelSize, _ error: String?) {
        guard let widget = view?.widget, let callback else { return }
        // The function may destroy the widget.
        g_object_ref(widget)
        defer { g_object_unref(widget) }
        callback.call(widget, size, error)
    }
}

/// A function of the program, with its data.
@MainActor final class LoadCallback {
    private let function: HalcyonLoadCallback
    private let data: UnsafeMutableRawPointer?
    private let destroy: GDestroyNotify?

    init(_ function: @escaping HalcyonLoadCallback, _ data: UnsafeMutableRawPointer?, _ destroy: GDestroyNotify?) {
        self.function = function
        self.data = data
        self.destroy = destroy
    }

    isolated deinit {
        destroy?(data)
    }

    /// - Parameter error: the reason for a failure; nil for an image.
    func call(_ widget: UnsafeMutablePointer<GtkWidget>, _ size: PixelSize, _ error: String?) {
        let (width, height) = (Int32(clamping: size.width), Int32(clamping: size.height))
        guard let error else { return function(widget, width, height, nil, data) }
        error.withCString { function(widget, width, height, $0, data) }
    }
}
