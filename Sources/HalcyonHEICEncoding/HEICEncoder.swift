import CHEIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// An encoder of HEIC still images by libheif and x265.
package struct HEICEncoder: ImageEncoder {
    /// The maximum number of pixels a side in HEVC.
    private static let maximumSide = 16_384
    /// The longer side of a thumbnail.
    private static let thumbnailSide = 160
    /// The shorter side of a picture that x265 does not fill up, which would make a grid of it.
    private static let shortestSide = 64

    package init() {}

    package var formats: [ImageFormat] { [.heic] }

    package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { !options.isLossless }

    /// Writes 8-bit HEIC at a quality, or as near to lossless as x265 gets, with alpha if any pixel is not opaque;
    /// at most 16,384 pixels a side. The encode cannot be cancelled once x265 has started.
    ///
    /// - Throws: `CodecError.encodingFailed`, also if the system's libheif has no encoder.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        guard image.width <= Self.maximumSide, image.height <= Self.maximumSide else {
            throw Self.failed("\(image.size) is more than \(Self.maximumSide) pixels a side")
        }
        guard let file = heif_context_alloc() else { throw BitmapError.outOfMemory(bytes: 0) }
        defer { heif_context_free(file) }
        var encoder: OpaquePointer?
        try Self.check(heif_context_get_encoder_for_format(file, heif_compression_HEVC, &encoder))
        defer { heif_encoder_release(encoder) }
        try Self.configure(encoder, options: options)
        let source = try Self.source(image.bitmap)
        defer { heif_image_release(source) }
        try context.checkCancellation()
        var picture: OpaquePointer?
        try Self.check(heif_context_encode_image(file, source, encoder, nil, &picture))
        defer { heif_image_handle_release(picture) }
        if options.embedsThumbnail { try Self.addThumbnail(of: image, to: picture, in: file, encoder, context) }
        return try Self.write(file)
    }

    /// Adds a smaller copy, unless the image is small or narrow, or has alpha, which a thumbnail of a HEIC does not.
    private static func addThumbnail(
        of image: Image, to picture: OpaquePointer?, in file: OpaquePointer, _ encoder: OpaquePointer?,
        _ context: WorkContext
    ) throws {
        let scale = Double(thumbnailSide) / Double(max(image.width, image.height))
        // libheif makes the sides even; to the nearest even number, they differ from the shape of the image by a pixel at most.
        let sides = [image.width, image.height].map { Int((Double($0) * scale / 2).rounded()) * 2 }
        guard scale < 1, sides[0] >= shortestSide, sides[1] >= shortestSide, image.bitmap.hasOpaquePixelsOnly else {
            return
        }
        // It only takes an image that it has to reduce, to the nearest pixels: one row and one column are left out.
        let box = PixelSize(sides[0] + 1, sides[1] + 1)
        let geometry = ResizeGeometry(source: image.size, box: box, mode: .stretch, upscale: true)
        let source = try source(try image.bitmap.resampled(geometry, filter: .area, context: context))
        defer { heif_image_release(source) }
        var thumbnail: OpaquePointer?
        try check(
            heif_context_encode_thumbnail(file, source, picture, encoder, nil, Int32(thumbnailSide), &thumbnail))
        if let thumbnail { heif_image_handle_release(thumbnail) }
    }

    private static func configure(_ encoder: OpaquePointer?, options: EncodeOptions) throws {
        try check(heif_encoder_set_logging_level(encoder, 0))
        let quality = try options.checkedQuality(for: .heic)
        if options.isLossless {
            try check(heif_encoder_set_lossless(encoder, 1))
        } else {
            try check(heif_encoder_set_lossy_quality(encoder, Int32((quality * 100).rounded())))
        }
        let isFull = options.isLossless || quality >= 0.9
        try check(heif_encoder_set_parameter_string(encoder, "chroma", isFull ? "444" : "420"))
    }

    /// Returns the pixels in the form that libheif takes: RGBA that is not premultiplied, or RGB if every pixel is
    /// opaque.
    private static func source(_ bitmap: Bitmap) throws -> OpaquePointer {
        let isOpaque = bitmap.hasOpaquePixelsOnly
        let chroma = isOpaque ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA
        let (width, height) = (Int32(clamping: bitmap.width), Int32(clamping: bitmap.height))
        var image: OpaquePointer?
        try check(heif_image_create(width, height, heif_colorspace_RGB, chroma, &image))
        guard let image else { throw BitmapError.outOfMemory(bytes: bitmap.byteCount) }
        var stride: Int32 = 0
        guard heif_image_add_plane(image, heif_channel_interleaved, width, height, 8).code == heif_error_Ok,
            let plane = heif_image_get_plane(image, heif_channel_interleaved, &stride)
        else {
            heif_image_release(image)
            throw BitmapError.outOfMemory(bytes: bitmap.byteCount)
        }
        copy(bitmap, into: plane, stride: Int(stride), channels: isOpaque ? 3 : 4)
        return image
    }

    private static func copy(_ bitmap: Bitmap, into plane: UnsafeMutablePointer<UInt8>, stride: Int, channels: Int) {
        var row = [UInt8](repeating: 0, count: bitmap.bytesPerRow)
        bitmap.withPixels { pixels in
            for y in 0..<bitmap.height {
                guard let source = pixels.baseAddress?.advanced(by: y * bitmap.bytesPerRow) else { return }
                halcyon_unpremultiply(source.assumingMemoryBound(to: UInt8.self), &row, bitmap.width)
                var target = plane + y * stride
                for x in 0..<bitmap.width {
                    target[0] = row[x * 4 + 2]
                    target[1] = row[x * 4 + 1]
                    target[2] = row[x * 4]
                    if channels == 4 { target[3] = row[x * 4 + 3] }
                    target += channels
                }
            }
        }
    }

    private static func write(_ file: OpaquePointer) throws -> Data {
        var output = Data()
        var writer = heif_writer(
            writer_api_version: 1,
            write: { _, bytes, count, output in
                if let bytes {
                    output?.assumingMemoryBound(to: Data.self).pointee.append(
                        bytes.assumingMemoryBound(to: UInt8.self), count: count)
                }
                return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
            })
        try withUnsafeMutablePointer(to: &output) { try check(heif_context_write(file, &writer, $0)) }
        return output
    }

    private static func check(_ error: heif_error) throws {
        guard error.code != heif_error_Ok else { return }
        throw failed(error.message.map { String(cString: $0) } ?? "libheif's error \(error.code.rawValue)")
    }

    private static func failed(_ reason: String) -> CodecError { .encodingFailed(.heic, reason: reason) }
}

/// Makes the encoder, for the registry of coders.
@_cdecl("halcyon_coder_heic_encoder")
package func heicEncoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(HEICEncoder()) }
