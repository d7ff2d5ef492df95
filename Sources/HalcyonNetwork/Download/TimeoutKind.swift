/// Which of the limits ran out. The raw value is the text that a description shows.
public enum TimeoutKind: String, Sendable, Hashable {
    case connect = "timed out while connecting"
    case idle = "timed out: nothing came for too long"
    case total = "timed out: not finished within the time allowed"
    /// `DownloadTimeouts.leastRate`.
    case leastRate = "timed out: the body came too slowly"
    /// `ImageDownloader.Configuration.slowTransfers`: it was the slowest of too many, and others waited for their turn.
    case crowded = "timed out: the slowest of too many slow transfers"
}
