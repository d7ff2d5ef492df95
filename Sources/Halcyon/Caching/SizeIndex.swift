import HalcyonCache
import HalcyonSystem

/// An index of the whole images of each source in memory, at any size. A key includes its size, so that the cache itself cannot
/// find a larger image.
///
/// It is made by the first look-up, so that inserts cost nothing in a program that accepts no larger images. It may list images
/// that have been evicted; callers check that.
final class SizeIndex: Sendable {
    private struct Index {
        var keys: [String: [ImageKey]] = [:]
        var count = 0
        var limit = 256

        mutating func add(_ key: ImageKey) {
            guard key.processors.isEmpty, !keys[key.source, default: []].contains(key) else { return }
            keys[key.source, default: []].append(key)
            count += 1
        }
    }

    private let state = Lock<Index?>(nil)

    /// Adds the key of an image that is in memory already.
    ///
    /// - Parameter isAlive: whether an image is still in memory; called for all keys when there may be twice as many keys as
    ///   images.
    func add(_ key: ImageKey, isAlive: (ImageKey) -> Bool) {
        let full = state.withLock { index -> [ImageKey]? in
            index?.add(key)
            return index.flatMap { $0.count > $0.limit ? $0.keys.values.flatMap { $0 } : nil }
        }
        guard let full else { return }
        let dead = Set(full.filter { !isAlive($0) })
        state.withLock { index in
            guard var cleaned = index else { return }
            cleaned.keys = cleaned.keys.compactMapValues { keys in
                let alive = keys.filter { !dead.contains($0) }
                return alive.isEmpty ? nil : alive
            }
            cleaned.count = cleaned.keys.values.reduce(0) { $0 + $1.count }
            cleaned.limit = max(256, cleaned.count * 2)
            index = cleaned
        }
    }

    /// Returns the keys of a source.
    ///
    /// - Parameter memory: the cache whose keys the index begins with.
    func keys(of source: String, in memory: MemoryCache<ImageKey, CachedImage>) -> [ImageKey] {
        state.withLock { index in
            // Under the lock: an insert that finds no index to add to is in memory by now.
            var known = index ?? Index()
            if index == nil {
                for key in memory.keys { known.add(key) }
                known.limit = max(256, known.count * 2)
                index = known
            }
            return known.keys[source] ?? []
        }
    }

    func removeAll() {
        state.withLock { $0 = nil }
    }
}
