import HalcyonCache
import HalcyonSystem

extension ImageCache {
    /// Trims the memory level as an event of the cache's own `memoryPressure` does.
    package func relieveMemory(_ pressure: MemoryPressure) {
        memoryCache.relieve(pressure)
    }
}
