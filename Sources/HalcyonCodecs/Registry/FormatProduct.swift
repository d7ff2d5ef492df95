import HalcyonImage

/// The products of the package whose coders read or write the formats beyond those of every program.
package enum FormatProduct {
    private static let decoding: [ImageFormat: String] = [
        .avif: "HalcyonAVIF", .heic: "HalcyonHEIC", .jpegXL: "HalcyonJPEGXL", .raw: "HalcyonRAW", .svg: "HalcyonSVG",
        .tiff: "HalcyonTIFF",
    ]
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
