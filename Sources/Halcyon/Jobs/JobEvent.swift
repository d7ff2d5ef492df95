import HalcyonImage
import HalcyonNetwork

/// What a job tells its subscribers on the way to its result.
enum JobEvent: Sendable {
    case progress(LoadProgress)
    /// More of the body is there; a load that wants previews makes them of it.
    case body(ReceivedBody)
    case preview(ImagePreview)
    /// The disk has bytes that the server is asked about first; a load that shows stale images makes one of them.
    case stale(StoredOriginal)
    /// The body is whole and about to be decoded: there are no more previews of it.
    case arrived
    /// What a step tells of itself, for metrics and events.
    case note(LoadNote)
}
