import HalcyonImage

/// The box that an image is decoded for, in pixels of the upright image.
public struct TargetSize: Hashable, Sendable {
    /// Each side at least 1. `Int.max` on a side of a fit or stretch box leaves that side free.
    public var size: PixelSize
    public var mode: ResizeMode
    /// Whether the result may be larger than the source. False by default.
    public var upscale: Bool

    public init(_ size: PixelSize, mode: ResizeMode = .fit, upscale: Bool = false) {
        self.size = size
        self.mode = mode
        self.upscale = upscale
    }
}
