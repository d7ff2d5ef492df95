/// The result of one step of a prefetch.
enum PrefetchEnd {
    /// The request must not be loaded now.
    case open
    case finished
    case skipped
    case failed(any Error)
}
