import Glibc
import HalcyonSystem

/// A gate between a test and the threads of a `RawServer`: threads block at it, tasks await it, any thread or task opens it.
///
/// `@unchecked Sendable` because everything is touched under the mutex.
public final class RawServerGate: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var opened = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    public init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public var isOpen: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return opened
    }

    public func open() {
        pthread_mutex_lock(mutex)
        opened = true
        let resumed = waiters
        waiters = []
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
        for waiter in resumed { waiter.resume() }
    }

    /// For a server's script: blocks its thread.
    public func block() {
        pthread_mutex_lock(mutex)
        while !opened { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }

    /// For a test. A time limit belongs on the test.
    public func opened() async {
        await withCheckedContinuation { continuation in
            pthread_mutex_lock(mutex)
            if !opened { waiters.append(continuation) }
            let isOpen = opened
            pthread_mutex_unlock(mutex)
            if isOpen { continuation.resume() }
        }
    }
}
