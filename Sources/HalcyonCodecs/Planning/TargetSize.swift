import HalcyonImage

/// The box to decode an image for, in pixels of the upright image.
public struct TargetSize: Hashable, Sendable {
    /// The size of the box, at least 1 on each side. `Int.max` on a side of a fit or stretch box leaves that side free,
    /// unless `upscale` is true: then a side beyond `Bitmap.maximumSide` is `BitmapError.invalidSize`.
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
