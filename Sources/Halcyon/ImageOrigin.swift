/// Where an image was when it was asked for.
public enum ImageOrigin: String, Sendable, Hashable, CaseIterable {
    /// In memory, decoded and processed.
    case memory
    /// On disk, fresh.
    case disk
    /// In a cache, past its freshness: the server could not be asked, failed, or is asked behind. `cacheRule` says which.
    case stale
    /// On disk, and the server said that it still holds.
    case revalidated
    case network
    case file
    /// In the request itself.
    case data
    /// An `ImageDataProvider`.
    case provider
}
