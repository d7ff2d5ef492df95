import CHalcyonSystem
import Dispatch
import Glibc

/// A dedicated thread. Blocking calls and codecs run on such threads, never on Swift's cooperative pool, where six of them
/// delay every actor of the program.
package enum WorkerThread {
    /// Starts a detached thread that runs `body` and then ends. If the system grants no more threads, `body` is queued for a
    /// thread of libdispatch, so that it is late and not lost.
    package static func startOrBorrow(name: String, _ body: @escaping @Sendable () -> Void) {
        if !start(name: name, body) { DispatchQueue.global().async(execute: body) }
    }

    /// The default stack size in bytes: as much as the system gives to the main thread, since codecs run here. Only the pages
    /// that are touched use memory.
    private static let usualStack = 8 << 20

    /// Starts a detached thread that runs `body` and then ends. Returns false if the system grants no more threads.
    @discardableResult
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Start(name: name, body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, usualStack)
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

    /// Runs `body` on a new thread and waits for its end: for libraries that recurse as deep as the data demands, whatever
    /// stack the caller has. Costs about 30 us.
    ///
    /// - Parameter stackSize: the size of the stack in bytes. The pages that `body` touched return to the system.
    /// - Returns: the result of `body`; nil if the system grants no thread or no memory for its stack.
    /// - Throws: any error of `body`.
    package static func run<Value>(name: String, stackSize: Int, _ body: () throws -> Value) throws -> Value? {
        var result: Result<Value, any Error>?
        withoutActuallyEscaping({ () -> Void in result = Result { try body() } }) { body in
            var call = Call(name: name, body: body)
            withUnsafeMutablePointer(to: &call) { runAndJoin($0, stackSize: stackSize) }
        }
        return try result?.get()
    }

    /// The name and the body of a call, on the stack of the waiting caller.
    private struct Call {
        let name: String
        let body: () -> Void
    }

    private static func runAndJoin(_ call: UnsafeMutablePointer<Call>, stackSize: Int) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let call = argument?.assumingMemoryBound(to: Call.self) else { return nil }
                halcyon_name_thread(call.pointee.name)
                call.pointee.body()
                return nil
            }, call)
        if status == 0 { pthread_join(thread, nil) }
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
