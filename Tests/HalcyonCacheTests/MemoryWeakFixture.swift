@testable import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import Testing

/// A value around something reference-counted, as an image is.
struct Picture: Sendable {
    final class Storage: Sendable {
        let name: String
        let atEnd: @Sendable () -> Void

        init(_ name: String, atEnd: @escaping @Sendable () -> Void) {
            self.name = name
            self.atEnd = atEnd
        }

        deinit { atEnd() }
    }

    private(set) var storage: Storage
    var name: String { storage.name }

    init(_ name: String, atEnd: @escaping @Sendable () -> Void = {}) {
        storage = Storage(name, atEnd: atEnd)
    }

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// A weak reference, even if nothing else keeps the picture.
    var weakly: WeakValue<Picture> { WeakValue(storage) { Picture($0) } }

    /// Returns a weak reference; nil if nothing else keeps the picture.
    static func weakReference(_ picture: inout Picture) -> WeakValue<Picture>? {
        isKnownUniquelyReferenced(&picture.storage) ? nil : picture.weakly
    }
}

extension MemoryCache where Value == Picture {
    static func weak(
        cost: Int = 1000, count: Int? = nil, ttl: Duration? = .seconds(300), sweep: Duration? = nil,
        shards: Int = 16, clock: ManualClock,
        weakly: WeakReference? = Picture.weakReference
    ) -> MemoryCache {
        MemoryCache(
            configuration: MemoryCacheConfiguration(
                costLimit: cost, countLimit: count, timeToLive: ttl, sweepInterval: sweep),
            timeSource: clock.timeSource, shardCount: shards, weakly: weakly)
    }
}

extension MemoryCache {
    /// The cost and the number of the entries that are in slots, counted one by one.
    var contents: (cost: Int, count: Int) {
        var contents = (cost: 0, count: 0)
        for index in 0..<shards.count {
            shards.withLock(index) { shard in
                for slot in 0..<shard.used where shard.marks[slot].chances != EntryMark.free {
                    contents = (contents.cost + shard.marks[slot].cost, contents.count + 1)
                }
            }
        }
        return contents
    }
}
