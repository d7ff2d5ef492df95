import CGTK

/// A reference to a model, and who is told of its changes.
@MainActor final class ListModelWatch {
    typealias Change = @MainActor (_ position: Int, _ removed: Int, _ added: Int) -> Void

    private let model: GObjectReference
    private let signal: Signal

    init(_ model: GObjectReference, _ body: @escaping Change) {
        self.model = model
        let call: @convention(c) (gpointer?, guint, guint, guint) -> Void = { data, position, removed, added in
            guard let body = Retained<Change>.value(behind: data) else { return }
            MainActor.assumeIsolated { body(Int(position), Int(removed), Int(added)) }
        }
        signal = Signal(
            model.raw, "items-changed", unsafeBitCast(call, to: GCallback.self), Retained<Change>.pointer(to: body))
    }

    isolated deinit {
        signal.disconnect()
    }

    var count: Int { Int(g_list_model_get_n_items(model.opaque)) }
}
