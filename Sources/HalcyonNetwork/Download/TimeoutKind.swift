/// The time limit that expired. The raw value is the text that a description shows.
public enum TimeoutKind: String, Sendable, Hashable {
    case connect = "timed out while connecting"
    case idle = "timed out: nothing came for too long"
    case total = "timed out: not finished within the time allowed"
    /// The body was slower than `DownloadTimeouts.leastRate`.
    case leastRate = "timed out: the body came too slowly"
    /// The transfer was the slowest of more than `ImageDownloader.Configuration.slowTransfers`, and others waited for a slot.
    case crowded = "timed out: the slowest of too many slow transfers"
}
