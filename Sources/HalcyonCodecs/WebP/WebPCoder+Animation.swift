import CWebP
import Foundation
import HalcyonImage
import HalcyonSystem

extension WebPCoder: AnimatedImageEncoder {
    /// The longest duration of a frame in milliseconds: a number of 24 bits, 4.66 hours.
    private static let longestFrame = 1 << 24 - 1

    /// Returns the memory of a frame, libwebp's copy of it, its three canvases, and the data that its lossless
    /// encoder keeps for each pixel.
    package func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        0.adding(14, times: animation.size.bitmapBytes)
    }

    /// Writes lossy frames by quality, or lossless ones, by libwebp's animation encoder, which writes the parts
    /// that change and merges equal neighbouring frames. Durations are rounded to milliseconds, and longer ones than 4.66 hours count as
    /// these. libwebp counts up to 24 days for all frames.
    package func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        var settings = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&settings) != 0 else {
            throw Self.failed("the version of libwebp is incompatible")
        }
        settings.anim_params.loop_count = Int32(clamping: min(65_535, animation.loopCount))
        // Players do not show transparent white, libwebp's own default.
        settings.anim_params.bgcolor = 0
        let (width, height) = (Int32(clamping: animation.size.width), Int32(clamping: animation.size.height))
        guard let encoder = WebPAnimEncoderNew(width, height, &settings) else {
            throw Self.failed("\(animation.size) is more than it can have")
        }
        defer { WebPAnimEncoderDelete(encoder) }
        var config = try Self.config(options)
        var (time, isOpaque) = (Int32(0), true)
        for (index, end) in animation.endsInMilliseconds(shortest: 0, longest: Self.longestFrame).enumerated() {
            let frame = try animation.frame(at: index, context: context)
            isOpaque = isOpaque && frame.hasOpaquePixelsOnly
            try Self.withPicture(of: frame) { picture in
                guard WebPAnimEncoderAdd(encoder, &picture, time, &config) != 0 else {
                    throw Self.failed(String(cString: WebPAnimEncoderGetError(encoder)))
                }
            }
            guard let next = Int32(exactly: end) else { throw Self.failed("it plays for more than 24 days") }
            time = next
        }
        guard WebPAnimEncoderAdd(encoder, nil, time, nil) != 0 else {
            throw Self.failed(String(cString: WebPAnimEncoderGetError(encoder)))
        }
        return try assemble(encoder, hasAlpha: !isOpaque)
    }

    private func assemble(_ encoder: OpaquePointer, hasAlpha: Bool) throws -> Data {
        var file = WebPData()
        guard WebPAnimEncoderAssemble(encoder, &file) != 0, let bytes = file.bytes else {
            throw Self.failed(String(cString: WebPAnimEncoderGetError(encoder)))
        }
        var data = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), count: file.size,
            deallocator: .custom { bytes, _ in WebPFree(bytes) })
        // libwebp declares alpha only if a stored part has some. A canvas that is cleared has it too, and some programs fill it
        // with black otherwise.
        if hasAlpha, data.read({ $0.matches("VP8X", at: 12) }) { data[data.startIndex + 20] |= 0x10 }
        return data
    }
}
