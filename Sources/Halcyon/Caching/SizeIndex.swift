import HalcyonSystem

/// An index of the whole images of each source in memory, at any size. A key includes its size, so that the cache itself cannot
/// find a larger image.
///
/// It may list images that have been evicted; callers check that.
final class SizeIndex: Sendable {
    private struct State {
        var keys: [String: [ImageKey]] = [:]
        var count = 0
        var limit = 256
    }

    private let state = Lock(State())

    /// Adds a key.
    ///
    /// - Parameter isAlive: whether an image is still in memory; called for all keys when there may be twice as many keys as
    ///   images.
    func add(_ key: ImageKey, isAlive: (ImageKey) -> Bool) {
        let full = state.withLock { state -> [ImageKey]? in
            var keys = state.keys[key.source, default: []]
            guard !keys.contains(key) else { return nil }
            keys.append(key)
            state.keys[key.source] = keys
            state.count += 1
            return state.count > state.limit ? state.keys.values.flatMap { $0 } : nil
        }
        guard let full else { return }
        let dead = Set(full.filter { !isAlive($0) })
        state.withLock { state in
            state.keys = state.keys.compactMapValues { keys in
                let alive = keys.filter { !dead.contains($0) }
                return alive.isEmpty ? nil : alive
            }
            state.count = state.keys.values.reduce(0) { $0 + $1.count }
            state.limit = max(256, state.count * 2)
        }
    }

    func keys(of source: String) -> [ImageKey] {
        state.withLock { $0.keys[source] ?? [] }
    }

    func removeAll() {
        state.withLock { state in state = State() }
    }
}
