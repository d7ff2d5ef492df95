import HalcyonImage

/// At which size, and within which limits, data becomes pixels.
public struct DecodeOptions: Hashable, Sendable {
    /// The size to decode for; nil keeps the source's own.
    public var target: TargetSize?
    /// The most bytes that the pixels of one frame may take; a larger image is scaled down, keeping its shape, to
    /// 1x1 at the least. Nil is no bound.
    public var maximumBytes: ByteLimit?
    /// The part that is decoded, in pixels of the upright image at its full size; nil is all of it. The target and
    /// the limit are then those of the part. Of an image of several frames it is the part of each.
    ///
    /// What reaches out of the image is left out; where nothing is left, that is `BitmapError.invalidSize`. Cost: the time of a whole decode,
    /// and of a JPEG, or a PNG that is not interlaced, the memory of the part.
    public var region: PixelRect?
    /// What happens to colours that are not sRGB. They are converted by default.
    public var color: ColorHandling
    /// Whether an animation becomes a still image. False by default.
    public var firstFrameOnly: Bool
    /// Whether all frames of an animation are decoded at once and kept, instead of one by one. False by default.
    public var preloadAllFrames: Bool
    /// What the header may declare.
    public var limits: DecodeLimits

    public init(
        target: TargetSize? = nil, maximumBytes: ByteLimit? = nil, region: PixelRect? = nil,
        color: ColorHandling = .sRGB, firstFrameOnly: Bool = false,
        preloadAllFrames: Bool = false, limits: DecodeLimits = DecodeLimits()
    ) {
        self.target = target
        self.maximumBytes = maximumBytes
        self.region = region
        self.color = color
        self.firstFrameOnly = firstFrameOnly
        self.preloadAllFrames = preloadAllFrames
        self.limits = limits
    }

    /// Whether the pixels may be fewer than the file's.
    package var changesSize: Bool { target != nil || maximumBytes != nil || region != nil }

    /// Writes what changes the decoded pixels. The limits do not: they only refuse; nor does
    /// when the frames are decoded.
    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.decode", version: 3)
        key.encode(target != nil)
        if let target {
            key.encode(target.size)
            key.encode(target.mode.rawValue)
            key.encode(target.upscale)
        }
        key.encode(maximumBytes?.bytes)
        key.encode(region != nil)
        if let region {
            for value in [region.x, region.y, region.size.width, region.size.height] { key.encode(value) }
        }
        key.encode(color.rawValue)
        key.encode(firstFrameOnly)
    }
}
