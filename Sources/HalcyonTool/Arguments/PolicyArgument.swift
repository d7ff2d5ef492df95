import ArgumentParser
import Halcyon

/// The use of the caches.
enum PolicyArgument: String, ExpressibleByArgument, CaseIterable {
    case `default`
    case reload
    case onlyCache = "only-cache"
    case noStore = "no-store"

    var policy: CachePolicy {
        switch self {
        case .default: .default
        case .reload: .reload
        case .onlyCache: .onlyIfCached
        case .noStore: .noStore
        }
    }
}
