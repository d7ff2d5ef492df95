import HalcyonImage
import HalcyonNetwork

/// What a job tells its subscribers on the way to its result.
enum JobEvent: Sendable {
    case progress(LoadProgress)
    /// More of the body is there; a load that wants previews makes them of it.
    case body(ReceivedBody)
    /// All of the body is there: no more previews.
    case bodyEnded
    case preview(Image)
}
