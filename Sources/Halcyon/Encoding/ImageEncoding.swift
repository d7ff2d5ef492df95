import HalcyonCodecs
import HalcyonImage

/// How an image is written for a web response. Equal encodings of one image are made once.
public struct ImageEncoding: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case original
        case encoded(ImageFormat, EncodeOptions)
    }

    let kind: Kind

    /// A format with options of its own.
    public init(_ format: ImageFormat, options: EncodeOptions = EncodeOptions()) {
        var options = options
        // Two that are not equal to themselves would never share their work.
        if options.quality.isNaN { options.quality = EncodeOptions().quality }
        kind = .encoded(format, options)
    }

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// The source's own bytes, once their head has proved to be that of an image within the request's limits; they are
    /// not decoded. The request's size and processors do not apply.
    ///
    /// What strangers wrote is passed on as they wrote it: an SVG may carry scripts, a photo the place where it was taken.
    public static let original = ImageEncoding(.original)

    /// JPEG; what is transparent is laid on white.
    ///
    /// - Parameter quality: 0 to 100, outside values are clamped.
    public static func jpeg(quality: Double = 85) -> ImageEncoding { lossy(.jpeg, quality) }

    /// WebP, an animation with all its frames.
    ///
    /// - Parameter quality: 0 to 100, outside values are clamped.
    public static func webp(quality: Double = 80) -> ImageEncoding { lossy(.webp, quality) }

    /// AVIF, where the build has it (trait `AVIF`).
    ///
    /// - Parameter quality: 0 to 100, outside values are clamped.
    public static func avif(quality: Double = 60) -> ImageEncoding { lossy(.avif, quality) }

    /// PNG, without loss; an animation as an animated PNG.
    public static let png = ImageEncoding(.png)

    private static func lossy(_ format: ImageFormat, _ quality: Double) -> ImageEncoding {
        ImageEncoding(format, options: EncodeOptions(quality: min(max(quality / 100, 0), 1)))
    }
}
