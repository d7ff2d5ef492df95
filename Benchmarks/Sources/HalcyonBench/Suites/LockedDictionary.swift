import Glibc

/// The floor of a memory lookup: a dictionary behind a mutex, with no limit, no time and no statistics.
///
/// `@unchecked Sendable` because `values` is only touched between lock and unlock.
final class LockedDictionary<Key: Hashable, Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var values: [Key: Value]

    init(_ values: [Key: Value]) {
        self.values = values
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    subscript(key: Key) -> Value? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return values[key]
    }
}
