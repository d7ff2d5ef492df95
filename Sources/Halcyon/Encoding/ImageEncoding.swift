import HalcyonCodecs
import HalcyonImage

/// The format and options with which an image is encoded for a web response. Equal encodings of one image are made
/// once.
public struct ImageEncoding: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case original
        /// The smallest file of these, of which there is one at least.
        case encoded([Candidate])
        /// The effort is in thousandths.
        case transcoded(ImageFormat, effort: Int?)
    }

    /// A format with its options.
    struct Candidate: Hashable, Sendable {
        let format: ImageFormat
        let options: EncodeOptions
    }

    let kind: Kind

    /// Creates an encoding in a format with the given options.
    public init(_ format: ImageFormat, options: EncodeOptions = EncodeOptions()) {
        kind = .encoded([Candidate(format: format, options: options)])
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

    /// The source's own bytes, rewritten in another format without loss, by a coder that does not decode them: a JPEG as JPEG XL for a
    /// browser that takes it, or such a JPEG XL as the JPEG that it was, byte for byte. A source that has the format already is passed on
    /// as it is.
    ///
    /// The encoding fails for sources that have no such form (`CoderRegistry.transcode`). As for `original`, the request's size and
    /// processors do not apply, and everything that the file holds is passed on.
    ///
    /// - Parameter effort: the time that is spent on a small file, as `EncodeOptions.effort`.
    public static func transcoded(to format: ImageFormat, effort: Double? = nil) -> ImageEncoding {
        ImageEncoding(.transcoded(format, effort: EncodeOptions(effort: effort).effortLevel(1000)))
    }

    /// This encoding or another one, whichever has the smaller file; the former if they are equal.
    ///
    /// Give both the same `EncodeOptions.qualityTarget`, so that the smaller file looks as good as the larger one. A
    /// format that cannot hold the image is left out, unless it is the only one; an error of options or of a format
    /// that no coder writes fails the encoding. All callers of one source share the result, which is kept as any other.
    /// `EncodedImage.mediaType` tells which it is.
    ///
    /// The source's own bytes are compared with nothing: of `original` and `transcoded`, the result is this one. Cost: both encodes, one
    /// after the other.
    public func orSmaller(_ other: ImageEncoding) -> ImageEncoding {
        guard case .encoded(let own) = kind, case .encoded(let others) = other.kind else { return self }
        return ImageEncoding(.encoded(own + others.filter { !own.contains($0) }))
    }

    /// Adds what the encoded bytes depend on to a cache key.
    func encode(into key: inout KeyEncoder) {
        switch kind {
        case .original: key.encode(0)
        case .encoded(let candidates):
            // A single one has the name that it had before there could be several.
            key.encode(candidates.count == 1 ? 1 : 3)
            if candidates.count != 1 { key.encode(candidates.count) }
            for candidate in candidates {
                key.encode(candidate.format.name)
                candidate.options.encode(into: &key)
            }
        case .transcoded(let format, let effort):
            key.encode(2)
            key.encode(format.name)
            key.encode(effort)
        }
    }

    /// Whether it is made of the source's bytes, whatever the request's size and processors are.
    var isOfSource: Bool {
        if case .encoded = kind { false } else { true }
    }

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
