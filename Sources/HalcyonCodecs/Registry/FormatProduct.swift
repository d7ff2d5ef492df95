import HalcyonImage

/// The products of the package whose coders read or write the formats beyond those of every program.
package enum FormatProduct {
    /// The formats of `HalcyonGdkPixbuf`, which are decoded by the loaders of the system, in workers of their own kind.
    package static let ofLoaders: [ImageFormat] = [.pnm, .tga, .xpm, .xbm, .icns, .ani, .jpeg2000]

    private static let decoding: [ImageFormat: String] = [
        .avif: "HalcyonAVIF", .heic: "HalcyonHEIC", .jpegXL: "HalcyonJPEGXL", .raw: "HalcyonRAW", .svg: "HalcyonSVG",
        .tiff: "HalcyonTIFF",
    ].merging(ofLoaders.map { ($0, "HalcyonGdkPixbuf") }) { product, _ in product }
    private static let encoding: [ImageFormat: String] = [
        .avif: "HalcyonAVIF", .heic: "HalcyonHEICEncoding", .jpegXL: "HalcyonJPEGXL",
    ]

    /// Returns the product that decodes a format; nil if there is none, or if the program links it.
    ///
    /// - Parameter linked: the coders of the program, whether or not a registry has them.
    package static func missing(
        toDecode format: ImageFormat, linked: [any ImageCoder] = BuiltInCoders.all
    ) -> String? {
        linked.contains { $0 is any ImageDecoder && $0.formats.contains(format) } ? nil : decoding[format]
    }

    /// Returns the product that encodes a format; nil if there is none, or if the program links it.
    ///
    /// - Parameter linked: the coders of the program, whether or not a registry has them.
    package static func missing(
        toEncode format: ImageFormat, linked: [any ImageCoder] = BuiltInCoders.all
    ) -> String? {
        linked.contains { ($0 as? any ImageEncoder)?.canEncode(format) == true } ? nil : encoding[format]
    }
}
