import HalcyonCodecs
import HalcyonImage

/// The format and options with which an image is encoded for a web response. Equal encodings of one image are made
/// once.
public struct ImageEncoding: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case original
        case encoded(ImageFormat, EncodeOptions)
    }

    let kind: Kind

    /// Creates an encoding in a format with the given options.
    public init(_ format: ImageFormat, options: EncodeOptions = EncodeOptions()) {
        kind = .encoded(format, options)
    }

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// The source's own bytes, once their header has proved to be that of an image within the request's limits; they
    /// are not decoded. The request's size and processors do not apply.
    ///
    /// The contents of untrusted sources are passed on unchanged: an SVG may contain scripts, a photo the place where
    /// it was taken.
    public static let original = ImageEncoding(.original)

    /// JPEG. Transparent parts are composited over white.
    ///
    /// - Parameter quality: from 0 to 1, as `EncodeOptions.quality`; with any other value the encoding fails.
    public static func jpeg(quality: Double = 0.85) -> ImageEncoding { lossy(.jpeg, quality) }

    /// WebP. An animation keeps all its frames.
    ///
    /// - Parameter quality: from 0 to 1, as `EncodeOptions.quality`; with any other value the encoding fails.
    public static func webp(quality: Double = 0.8) -> ImageEncoding { lossy(.webp, quality) }

    /// AVIF, where the program links the product `HalcyonAVIF`.
    ///
    /// - Parameter quality: from 0 to 1, as `EncodeOptions.quality`; with any other value the encoding fails.
    public static func avif(quality: Double = 0.6) -> ImageEncoding { lossy(.avif, quality) }

    /// PNG, which is lossless. An animation becomes an animated PNG.
    public static let png = ImageEncoding(.png)

    private static func lossy(_ format: ImageFormat, _ quality: Double) -> ImageEncoding {
        ImageEncoding(format, options: EncodeOptions(quality: quality))
    }
}
