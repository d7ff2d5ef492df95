import Foundation
import Glibc

/// Threads of the store: it connects, sends and receives on no thread of a caller and on none of Swift's cooperative pool.
enum DedicatedThread {
    private final class Start: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a detached thread that runs `body` and then ends.
    ///
    /// - Parameter name: at most 15 bytes.
    /// - Returns: false if the system grants no more threads.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(
            Start {
                Thread.current.name = name
                body()
            })
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        if status != 0 { start.release() }
        return status == 0
    }
}
