import HalcyonImage

/// What a job tells its subscribers on the way to its result.
enum JobEvent: Sendable {
    case progress(LoadProgress)
    case preview(Image)
}
