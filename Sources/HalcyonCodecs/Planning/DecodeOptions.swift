import HalcyonImage

/// At which size, and within which limits, data becomes pixels.
public struct DecodeOptions: Hashable, Sendable {
    /// The size to decode for; nil keeps the source's own.
    public var target: TargetSize?
    /// The most bytes that the pixels of one frame may take; a larger image is scaled down, keeping its shape, to
    /// 1x1 at the least. Nil is no bound.
    public var maximumBytes: Int?
    /// Whether an animation becomes a still image. False by default.
    public var firstFrameOnly: Bool
    /// Whether all frames of an animation are decoded at once and kept, instead of one by one. False by default.
    public var preloadAllFrames: Bool
    /// What the header may declare.
    public var limits: DecodeLimits

    public init(
        target: TargetSize? = nil, maximumBytes: Int? = nil, firstFrameOnly: Bool = false,
        preloadAllFrames: Bool = false, limits: DecodeLimits = DecodeLimits()
    ) {
        self.target = target
        self.maximumBytes = maximumBytes
        self.firstFrameOnly = firstFrameOnly
        self.preloadAllFrames = preloadAllFrames
        self.limits = limits
    }

    /// Writes what changes the decoded pixels. The limits do not: they only refuse; nor does
    /// when the frames are decoded.
    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.decode", version: 2)
        key.encode(target != nil)
        if let target {
            key.encode(target.size)
            key.encode(target.mode.rawValue)
            key.encode(target.upscale)
        }
        key.encode(maximumBytes)
        key.encode(firstFrameOnly)
    }
}
