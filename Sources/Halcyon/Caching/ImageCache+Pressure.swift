import HalcyonCache
import HalcyonSystem

extension ImageCache {
    /// Does to the memory level what a step of the cache's own `memoryPressure` does.
    package func relieveMemory(_ pressure: MemoryPressure) {
        memoryCache.relieve(pressure)
    }
}
