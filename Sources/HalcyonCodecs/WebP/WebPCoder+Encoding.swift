import CHalcyonCodecs
import CWebP
import Foundation
import HalcyonImage
import HalcyonSystem

extension WebPCoder: ImageEncoder {
    package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { !options.isLossless }

    package func writesMetadata(_ format: ImageFormat) -> Bool { true }

    /// Writes lossy WebP by quality, or lossless WebP; at most 16,383 pixels a side.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        let config = try Self.config(options)
        let file = try Self.withPicture(of: image.bitmap) { picture in
            try Self.write(&picture, config: config, context: context)
        }
        return try WebPMetadata.insert(options.storedOrientation(of: image), image.colorProfile, into: file)
    }

    /// Calls `body` with the bitmap as libwebp takes it, a copy with straight alpha.
    static func withPicture<Result>(
        of bitmap: Bitmap, _ body: (inout WebPPicture) throws -> Result
    ) throws -> Result {
        let limit = Int(WEBP_MAX_DIMENSION)
        guard bitmap.width <= limit, bitmap.height <= limit else {
            throw failed("\(bitmap.size) is more than \(limit) pixels a side")
        }
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw failed("the version of libwebp is incompatible") }
        defer { WebPPictureFree(&picture) }
        picture.use_argb = 1
        picture.width = Int32(clamping: bitmap.width)
        picture.height = Int32(clamping: bitmap.height)
        guard WebPPictureAlloc(&picture) != 0 else { throw BitmapError.outOfMemory(bytes: bitmap.byteCount) }
        copy(bitmap, into: picture)
        return try body(&picture)
    }

    static func config(_ options: EncodeOptions) throws -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigInit(&config) != 0 else { throw failed("the version of libwebp is incompatible") }
        config.lossless = options.isLossless ? 1 : 0
        // For a lossless file, quality is the effort; libwebp's default, 75, is already high.
        if !options.isLossless { config.quality = Float(try options.checkedQuality(for: .webp) * 100) }
        if let method = options.effortLevel(6) { config.method = Int32(method) }
        return config
    }

    /// Copies the pixels. libwebp takes straight alpha in 32-bit words, whose layout in memory equals that of the
    /// bitmap on little-endian machines, the only ones that Swift on Linux supports.
    private static func copy(_ bitmap: Bitmap, into picture: WebPPicture) {
        bitmap.withPixels { pixels in
            for row in 0..<bitmap.height {
                guard let source = pixels.baseAddress?.advanced(by: row * bitmap.bytesPerRow),
                    let target = picture.argb?.advanced(by: row * Int(picture.argb_stride))
                else { return }
                halcyon_unpremultiply(
                    source.assumingMemoryBound(to: UInt8.self),
                    UnsafeMutableRawPointer(target).assumingMemoryBound(to: UInt8.self), bitmap.width)
            }
        }
    }

    private static func write(
        _ picture: inout WebPPicture, config: WebPConfig, context: WorkContext
    ) throws -> Data {
        var config = config
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        let isWritten = withUnsafeMutablePointer(to: &writer) { writer in
            withUnsafePointer(to: context) { context in
                picture.writer = { WebPMemoryWrite($0, $1, $2) }
                picture.custom_ptr = UnsafeMutableRawPointer(writer)
                picture.user_data = UnsafeMutableRawPointer(mutating: context)
                picture.progress_hook = { _, picture in
                    let context = picture?.pointee.user_data?.assumingMemoryBound(to: WorkContext.self)
                    return context?.pointee.isCancelled == true ? 0 : 1
                }
                return WebPEncode(&config, &picture) != 0
            }
        }
        guard isWritten, let bytes = writer.mem else {
            WebPMemoryWriterClear(&writer)
            throw error(picture.error_code, bytes: Int(picture.width) * Int(picture.height) * 4)
        }
        return Data(bytesNoCopy: bytes, count: writer.size, deallocator: .custom { bytes, _ in WebPFree(bytes) })
    }

    private static func error(_ code: WebPEncodingError, bytes: Int) -> any Error {
        switch code {
        case VP8_ENC_ERROR_USER_ABORT: CancellationError()
        case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
            BitmapError.outOfMemory(bytes: bytes)
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW, VP8_ENC_ERROR_FILE_TOO_BIG:
            failed("the file would be larger than WebP allows")
        default: failed("libwebp's error \(code.rawValue)")
        }
    }

    static func failed(_ reason: String) -> CodecError { .encodingFailed(.webp, reason: reason) }
}

/// Inserts the chunks of metadata into a WebP by libwebpmux.
enum WebPMetadata {
    /// Returns the file with an orientation and a profile.
    ///
    /// - Throws: `CodecError.encodingFailed`.
    static func insert(_ orientation: Orientation, _ profile: Data?, into file: Data) throws -> Data {
        guard orientation != .up || profile != nil else { return file }
        guard let mux = with(file, { WebPMuxCreate($0, 1) }) else { throw failed() }
        defer { WebPMuxDelete(mux) }
        if let profile { try set("ICCP", profile, in: mux) }
        if orientation != .up { try set("EXIF", Exif.data(orientation), in: mux) }
        var assembled = WebPData()
        defer { WebPDataClear(&assembled) }
        guard WebPMuxAssemble(mux, &assembled) == WEBP_MUX_OK, let bytes = assembled.bytes else { throw failed() }
        return Data(bytes: bytes, count: assembled.size)
    }

    private static func set(_ name: String, _ data: Data, in mux: OpaquePointer) throws {
        let isSet = name.withCString { name in with(data) { WebPMuxSetChunk(mux, name, $0, 1) } }
        guard isSet == WEBP_MUX_OK else { throw failed() }
    }

    private static func with<Result>(_ data: Data, _ body: (UnsafePointer<WebPData>) -> Result) -> Result {
        data.withUnsafeBytes { bytes in
            var data = WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
            return body(&data)
        }
    }

    private static func failed() -> CodecError { WebPCoder.failed("its metadata cannot be added") }
}
