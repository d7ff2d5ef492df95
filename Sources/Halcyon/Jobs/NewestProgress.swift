import HalcyonNetwork
import HalcyonSystem

/// A transfer's progress on its way to the coordinator: only the newest matters to who is slow.
final class NewestProgress: Sendable {
    private let waiting = Lock<DownloadProgress?>(nil)

    /// True where it has to be fetched; false where that is asked for already.
    func put(_ progress: DownloadProgress) -> Bool {
        waiting.withLock { waiting in
            defer { waiting = progress }
            return waiting == nil
        }
    }

    func take() -> DownloadProgress? {
        waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
    }
}
