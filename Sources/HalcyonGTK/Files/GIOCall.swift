import CGTK
import Halcyon
import HalcyonSystem

/// Asynchronous GIO calls, awaited to their ends.
enum GIOCall {
    /// Starts a call with the given cancellable, callback and user data.
    typealias Begin =
        @Sendable (
            _ cancellable: UnsafeMutablePointer<GCancellable>?, _ callback: @escaping GAsyncReadyCallback,
            _ data: gpointer
        ) -> Void
    typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
    private typealias Finish = @Sendable (OpaquePointer?) -> Void

    /// Runs one call on GIO's thread. Cancelling the task cancels the call.
    ///
    /// - Parameters:
    ///   - end: the call's `_finish` function; returns nil after it has set the error.
    /// - Throws: `GIOImageError.Reason`; `CancellationError`.
    static func run<Value: Sendable>(
        _ begin: @escaping Begin, end: @escaping @Sendable (_ result: OpaquePointer?, _ error: Failure) -> Value?
    ) async throws -> Value {
        let cancellable = GObjectReference(taking: UnsafeMutableRawPointer(g_cancellable_new()))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                GIOThread.shared.perform {
                    let finish: Finish = { result in
                        var error: UnsafeMutablePointer<GError>?
                        let value = end(result, &error)
                        defer { g_clear_error(&error) }
                        if let value { return continuation.resume(returning: value) }
                        continuation.resume(throwing: GIOImageError.thrown(for: error))
                    }
                    begin(cancellable.typed(), callback, Retained<Finish>.pointer(to: finish))
                }
            }
        } onCancel: {
            g_cancellable_cancel(cancellable.typed())
        }
    }

    private static let callback: GAsyncReadyCallback = { _, result, data in
        Retained<Finish>.value(behind: data)?(result)
        Release.destroy(data)
    }
}

/// The thread on which GIO's asynchronous calls begin and end. It has a main context of its own, so that the calls neither
/// depend on the program's main loop, which may not exist, nor take its time.
///
/// `@unchecked Sendable`: GLib's contexts may be used from any thread.
final class GIOThread: @unchecked Sendable {
    /// The shared thread: started by the first call and never ended; it sleeps while idle.
    static let shared = GIOThread()

    private let context: OpaquePointer
    private let waiting = Lock<[@Sendable () -> Void]>([])

    private init() {
        context = g_main_context_new()
        WorkerThread.startOrBorrow(name: "halcyon-gio") { [self] in
            g_main_context_push_thread_default(context)
            g_main_loop_run(g_main_loop_new(context, 0))
        }
    }

    /// Runs `work` on the thread, in the order of the calls.
    func perform(_ work: @escaping @Sendable () -> Void) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(work)
            return waiting.count == 1
        }
        guard isFirst else { return }
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        let drain: GSourceFunc = { _ in
            GIOThread.shared.drain()
            return 0
        }
        g_source_set_callback(source, drain, nil, nil)
        g_source_attach(source, context)
        g_source_unref(source)
    }

    private func drain() {
        let work = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in work { work() }
    }
}
