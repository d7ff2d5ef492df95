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

    public init(
        quality: Double = 0.85, isLossless: Bool = false, background: Background = .white, isProgressive: Bool = false
    ) {
        self.quality = quality
        self.isLossless = isLossless
        self.background = background
        self.isProgressive = isProgressive
    }

    /// Writes what changes the encoded bytes.
    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.encode", version: 1)
        key.encode(clampedQuality)
        key.encode(isLossless)
        key.encode(background.packed)
        key.encode(isProgressive)
    }

    /// Quality within 0...1; NaN is the default.
    var clampedQuality: Double { quality.isNaN ? 0.85 : min(max(quality, 0), 1) }
}
