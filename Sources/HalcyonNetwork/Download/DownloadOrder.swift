/// Who goes first among transfers of equal priority that wait for their turn.
public enum DownloadOrder: Sendable, Hashable {
    /// Who has waited longest.
    case firstInFirstOut
    /// Who came last, as for a list that is scrolled fast: what is on the screen was asked for last. A transfer whose
    /// priority changes counts as the newest of its new one.
    case newestFirst
}
