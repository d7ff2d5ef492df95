import CHalcyonSystem
import Dispatch
import Glibc

/// A thread of our own. Blocking calls and codecs run on such threads, never on Swift's cooperative pool, where six of
/// them delay every actor of the program.
package enum WorkerThread {
    /// Starts a detached thread that runs `body` and ends with it. Where the system grants no more threads, `body` waits
    /// for one of libdispatch's, so that what was queued for it is late and not lost.
    package static func startOrBorrow(name: String, _ body: @escaping @Sendable () -> Void) {
        if !start(name: name, body) { DispatchQueue.global().async(execute: body) }
    }

    /// Starts a detached thread that runs `body` and ends with it. False when the system grants no more threads.
    @discardableResult
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Start(name: name, body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Codecs keep their tables on the heap; 1 MiB is what deep Swift generics and libcurl need with room to spare.
        pthread_attr_setstacksize(&attributes, 1 << 20)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                halcyon_name_thread(start.name)
                start.body()
                return nil
            }, box.toOpaque())
        if status != 0 { box.release() }
        return status == 0
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
