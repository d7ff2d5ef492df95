import CGTK

/// A reference to a model, and who is told of its changes.
@MainActor final class ListModelWatch {
    typealias Change = @MainActor (_ position: Int, _ removed: Int, _ added: Int) -> Void

    private final class Body {
        let run: Change

        init(_ run: @escaping Change) {
            self.run = run
        }
    }

    private let model: GObjectReference
    private var id: gulong = 0

    init(_ model: GObjectReference, _ body: @escaping Change) {
        self.model = model
        let call: @convention(c) (gpointer?, guint, guint, guint, gpointer?) -> Void = {
            _, position, removed, added, data in
            guard let data else { return }
            let body = Unmanaged<Body>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body.run(Int(position), Int(removed), Int(added)) }
        }
        let forget: GClosureNotify = { data, _ in
            guard let data else { return }
            Unmanaged<Body>.fromOpaque(data).release()
        }
        id = g_signal_connect_data(
            model.raw, "items-changed", unsafeBitCast(call, to: GCallback.self),
            Unmanaged.passRetained(Body(body)).toOpaque(), forget, GConnectFlags(rawValue: 0))
    }

    isolated deinit {
        g_signal_handler_disconnect(model.raw, id)
    }

    var count: Int { Int(g_list_model_get_n_items(model.opaque)) }
}
