import CHalcyonCodecs
import CWebP
import Foundation
import HalcyonImage
import HalcyonSystem

/// The memory into which libwebp decodes one image, as premultiplied BGRA.
struct WebPOutput {
    /// The memory from the image's first pixel on.
    let pixels: UnsafeMutableRawBufferPointer
    let bytesPerRow: Int
    let size: PixelSize
    let isScaled: Bool
    /// Whether alpha may be below 255. If not, it is set to 255, whatever the pixels of the file contain.
    let hasAlpha: Bool

    /// The minimum number of bytes that each step passes to libwebp; the decode can be cancelled between two steps.
    private static let step = 1 << 12
    /// The size in bytes from which a file is passed in 8 steps rather than 4. At each step, libwebp reads some
    /// rows of lossless data again, which costs 3 % of a small image in 8 steps and 6 % in 16.
    private static let largeFile = 1 << 22

    /// Decodes a complete image.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`, `CancellationError`.
    func decode(_ bytes: UnsafeRawBufferPointer, context: WorkContext) throws {
        var config = try makeConfig()
        // libwebp keeps the config's address.
        try withUnsafeMutablePointer(to: &config) { try feed(bytes, config: $0, context: context) }
        // libwebp writes a smaller image into a larger buffer without an error, and leaves the rest as it was.
        guard config.output.width == size.width, config.output.height == size.height else {
            throw Self.damaged("the decoded size differs from the header")
        }
        if !hasAlpha {
            // A lossless file may have alpha in its pixels although its header declares none.
            if !Self.isWrittenOpaque(bytes) { forEachRow { halcyon_make_opaque($0, size.width) } }
        } else if !isScaled {
            forEachRow { halcyon_premultiply($0, size.width) }
        }
    }

    /// Returns the configuration by which libwebp writes into this memory.
    ///
    /// - Throws: `CodecError.damaged`.
    func makeConfig() throws -> WebPDecoderConfig {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw Self.damaged("the version of libwebp is incompatible")
        }
        // libwebp rounds down when it multiplies by alpha. At full size, `decode` multiplies and rounds to the
        // nearest instead, so that losslessly encoded pixels are restored without loss; when it scales, libwebp has
        // to multiply before.
        config.output.colorspace = isScaled && hasAlpha ? MODE_bgrA : MODE_BGRA
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        config.output.u.RGBA.stride = Int32(clamping: bytesPerRow)
        config.output.u.RGBA.size = pixels.count
        if isScaled {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(clamping: size.width)
            config.options.scaled_height = Int32(clamping: size.height)
        }
        return config
    }

    /// Returns whether libwebp itself sets every alpha to 255: lossy pixels have no alpha unless there is a chunk
    /// of it.
    private static func isWrittenOpaque(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var features = WebPBitstreamFeatures()
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard WebPGetFeatures(start, bytes.count, &features) == VP8_STATUS_OK else { return false }
        let isLossy = features.format == 1
        return isLossy && features.has_alpha == 0
    }

    private func feed(
        _ bytes: UnsafeRawBufferPointer, config: UnsafeMutablePointer<WebPDecoderConfig>, context: WorkContext
    ) throws {
        guard let decoder = WebPIDecode(nil, 0, config) else {
            throw BitmapError.outOfMemory(bytes: pixels.count)
        }
        defer { WebPIDelete(decoder) }
        let step = max(Self.step, bytes.count / (bytes.count < Self.largeFile ? 4 : 8))
        var fed = 0
        var status = VP8_STATUS_SUSPENDED
        while status == VP8_STATUS_SUSPENDED, fed < bytes.count {
            try context.checkCancellation()
            fed = min(bytes.count, fed + step)
            status = WebPIUpdate(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), fed)
        }
        guard status != VP8_STATUS_SUSPENDED else { throw Self.damaged("the file was cut off") }
        try Self.check(status, bytes: pixels.count)
    }

    /// Throws the error for a status of libwebp.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    static func check(_ status: VP8StatusCode, bytes: Int) throws {
        switch status {
        case VP8_STATUS_OK, VP8_STATUS_SUSPENDED: return
        case VP8_STATUS_NOT_ENOUGH_DATA: throw Self.damaged("the file was cut off")
        case VP8_STATUS_OUT_OF_MEMORY: throw BitmapError.outOfMemory(bytes: bytes)
        case VP8_STATUS_UNSUPPORTED_FEATURE: throw Self.damaged("it uses a feature that libwebp does not know")
        default: throw Self.damaged("its data is corrupt")
        }
    }

    private func forEachRow(_ body: (UnsafeMutablePointer<UInt8>) -> Void) {
        for row in 0..<size.height {
            guard let start = pixels.baseAddress?.advanced(by: row * bytesPerRow) else { return }
            body(start.assumingMemoryBound(to: UInt8.self))
        }
    }

    static func damaged(_ reason: String) -> CodecError { .damaged(.webp, reason: reason) }
}
