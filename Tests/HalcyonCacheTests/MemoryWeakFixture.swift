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

    let storage: Storage
    var name: String { storage.name }

    init(_ name: String, atEnd: @escaping @Sendable () -> Void = {}) {
        storage = Storage(name, atEnd: atEnd)
    }

    private init(_ storage: Storage) {
        self.storage = storage
    }

    var weakly: WeakValue<Picture> { WeakValue(storage) { Picture($0) } }
}

extension MemoryCache where Value == Picture {
    static func weak(
        cost: Int = 1000, count: Int? = nil, ttl: Duration? = .seconds(300), sweep: Duration? = nil,
        shards: Int = 16, clock: ManualClock,
        weakly: (@Sendable (Picture) -> WeakValue<Picture>?)? = { $0.weakly }
    ) -> MemoryCache {
        MemoryCache(
            configuration: MemoryCacheConfiguration(
                costLimit: cost, countLimit: count, timeToLive: ttl, sweepInterval: sweep),
            timeSource: clock.timeSource, shardCount: shards, weakly: weakly)
    }
}
