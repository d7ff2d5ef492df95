/// What one step of a prefetch came to.
enum PrefetchEnd {
    /// Not to be loaded now.
    case open
    case finished
    case skipped
    case failed(any Error)
}
