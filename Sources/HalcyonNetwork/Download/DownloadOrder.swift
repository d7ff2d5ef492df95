/// The order of transfers with equal priority that wait for a slot.
public enum DownloadOrder: Sendable, Hashable {
    /// The transfer that has waited longest is first.
    case firstInFirstOut
    /// The newest transfer is first, for example for a list that is scrolled fast, in which the visible images were
    /// requested last. A transfer whose priority changes counts as the newest of its new priority.
    case newestFirst
}
