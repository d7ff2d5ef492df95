import CGTK
import Halcyon
import HalcyonSystem

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
