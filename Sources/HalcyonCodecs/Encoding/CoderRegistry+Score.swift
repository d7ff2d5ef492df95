import Foundation
import HalcyonImage
import HalcyonSystem

/// Encodings whose quality is found by a score.
extension CoderRegistry {
    /// The bytes for each pixel that decoding a file and comparing it takes: its bitmap, the planes, and the decoder's own.
    private static let comparisonBytesPerPixel = 4 + SimilarityReference.workingBytesPerPixel + 18

    /// Returns the bytes that the search for a score takes, no more than there are at all; nil without a search.
    func comparisonBytes(_ image: Image, as format: ImageFormat, options: EncodeOptions) -> Int? {
        guard options.qualityTarget != nil, encoder(for: format)?.isLossy(format, options: options) == true else {
            return nil
        }
        return min(0.adding(Self.comparisonBytesPerPixel, times: image.size.area ?? .max), budget.capacity)
    }

    /// Returns the encoding of a still image whose score is nearest to the target's.
    ///
    /// - Parameters:
    ///   - image: the image as the encoder takes it.
    ///   - encode: encodes it.
    /// - Throws: `CodecError.encodingFailed` for deep pixels, and if no decoder reads the format; the errors of `encode`.
    func search(
        for target: QualityTarget, _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext,
        encode: (EncodeOptions) throws -> Data
    ) throws -> FoundEncoding {
        guard image.deepBitmap == nil else {
            throw CodecError.encodingFailed(
                format, reason: "a score is that of 8 bits a channel, and not of \(options.bitsPerChannel ?? 8)")
        }
        var reference = SimilarityReference(try Self.comparable(image).bitmap)
        let turn = ImageGeometry(orientation: options.storedOrientation(of: image).inverse)
        var search = ScoreSearch(target, format)
        let found = try search.run { quality in
            var options = options
            options.quality = quality
            let data = try encode(options)
            let copy = try decodeCopy(
                data, format, color: image.colorProfile == nil ? .asStored : .sRGB, context: context
            ).applying(turn, context: context)
            let score = try reference.score(
                of: copy.bitmap, background: UInt32(options.background.packed), context: context)
            guard let score else {
                throw CodecError.encodingFailed(
                    format, reason: "the file has \(copy.size) pixels, and not \(image.size)")
            }
            return (data, score)
        }
        guard let found else { throw CodecError.encodingFailed(format, reason: "nothing was encoded") }
        return found
    }

    /// Returns the image in sRGB, where its file may have another profile for the same colours: a lossy JPEG XL does.
    private static func comparable(_ image: Image) throws -> Image {
        guard let profile = image.colorProfile else { return image }
        return try image.converted(by: try ColorTransforms.shared.transform(for: ColorProfile(embedded: profile)))
    }

    /// Decodes a file that an encoder has just written. The caller has reserved the memory.
    private func decodeCopy(
        _ data: Data, _ format: ImageFormat, color: ColorHandling, context: WorkContext
    ) throws -> Image {
        guard let decoder = decoder(for: data)?.opened(for: data), !DecodeIsolation.isRequired(by: decoder) else {
            throw CodecError.encodingFailed(format, reason: "nothing decodes it, so its score cannot be found")
        }
        var options = DecodeOptions(color: color, firstFrameOnly: true, isolation: .inProcess)
        // The file is this program's own, and its image is in memory already.
        for limit in DecodeLimits.all { options.limits[keyPath: limit] = 1 << 48 }
        return try decode(
            data, decoder: decoder, plan: plan(data, options: options, context: context), context: context)
    }
}
