/// An error of an animation, or of one of its frames.
public enum AnimationError: Error, Hashable, Sendable, CustomStringConvertible {
    case noFrames
    /// The frames differ in size.
    case differentSizes(PixelSize, PixelSize)
    case noSuchFrame(Int, count: Int)
    /// All frames together, in bytes, are larger than the limit.
    case tooLarge(bytes: Int, limit: Int)

    public var description: String {
        switch self {
        case .noFrames: "an animation has at least one frame"
        case .differentSizes(let first, let other): "the frames are \(first) and \(other) pixels"
        case .noSuchFrame(let index, let count): "there is no frame \(index) among \(count)"
        case .tooLarge(let bytes, let limit): "all frames together take \(bytes) bytes, more than \(limit)"
        }
    }
}
