/// What happens within a download that its progress does not tell.
package enum DownloadEvent: Sendable {
    /// An attempt failed, the first being 1, and is followed by another.
    case retried(DownloadError, attempt: Int)
}
