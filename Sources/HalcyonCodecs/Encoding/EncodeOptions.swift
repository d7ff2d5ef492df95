import HalcyonImage

/// How an image is written. What a format does not have, its encoder ignores.
public struct EncodeOptions: Hashable, Sendable {
    /// From 0 (smallest) to 1 (best) for lossy formats; outside values are clamped. 0.85 by default.
    public var quality: Double
    /// Whether WebP keeps every pixel as it is. False by default.
    public var isLossless: Bool
    /// What transparent pixels are laid on in formats without alpha. White by default.
    public var background: Background
    /// Whether a JPEG is written in scans that sharpen step by step. False by default.
    public var isProgressive: Bool

    /// The most pixels on either side; a larger image is reduced, keeping its shape. Nil, the default, is no bound.
    public var maximumSide: Int?
    /// The most bytes that the file may have: a lossy format takes the best quality, up to `quality`, that fits; a
    /// lossless one does not look at it. Nil, the default, is no bound.
    public var maximumBytes: Int?
    /// Whether an animation is written as a still image. False by default.
    public var firstFrameOnly: Bool

    /// Whether the file is stored as the source was and says how it is to be turned, instead of being stored upright.
    /// JPEG, PNG, WebP and AVIF stills have that. False by default.
    public var keepsOrientation: Bool
    /// Whether pixels that are not sRGB stay as they are, with their profile in the file, where the format has
    /// profiles (stills of JPEG, PNG, WebP and AVIF); else they are converted. True by default.
    public var keepsColorProfile: Bool

    /// The most pixels of all frames of an animation together; one with more is refused before any is encoded. 2^32 by
    /// default. With `maximumBytes` all of them may be encoded eight times. It changes no file.
    public var maximumTotalPixels: Int

    public init(
        quality: Double = 0.85, isLossless: Bool = false, background: Background = .white, isProgressive: Bool = false,
        maximumSide: Int? = nil, maximumBytes: Int? = nil, firstFrameOnly: Bool = false,
        keepsOrientation: Bool = false, keepsColorProfile: Bool = true,
        maximumTotalPixels: Int = 1 << 32
    ) {
        self.quality = quality
        self.isLossless = isLossless
        self.background = background
        self.isProgressive = isProgressive
        self.maximumSide = maximumSide
        self.maximumBytes = maximumBytes
        self.firstFrameOnly = firstFrameOnly
        self.keepsOrientation = keepsOrientation
        self.keepsColorProfile = keepsColorProfile
        self.maximumTotalPixels = maximumTotalPixels
    }

    /// What a file that is written with these options says of how it stands.
    public func storedOrientation(of image: Image) -> Orientation {
        keepsOrientation ? image.info.orientation : .up
    }

    /// Writes what changes the encoded bytes.
    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.encode", version: 3)
        key.encode(clampedQuality)
        key.encode(isLossless)
        key.encode(background.packed)
        key.encode(isProgressive)
        key.encode(maximumSide)
        key.encode(maximumBytes)
        key.encode(firstFrameOnly)
        key.encode(keepsOrientation)
        key.encode(keepsColorProfile)
    }

    /// Quality within 0...1; NaN is the default.
    var clampedQuality: Double { quality.isNaN ? 0.85 : min(max(quality, 0), 1) }
}
