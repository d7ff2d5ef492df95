/// An event within a download that its progress does not show.
package enum DownloadEvent: Sendable {
    /// An attempt failed, and another one follows; `attempt` is 1 for the first.
    case retried(DownloadError, attempt: Int)
}
