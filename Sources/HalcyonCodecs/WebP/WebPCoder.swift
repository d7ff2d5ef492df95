import CWebP
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for WebP by libwebp: lossy and lossless, with alpha; of an animation, `decode` returns the first frame
/// on its full canvas.
///
/// A still image is decoded straight into the bitmap, at any size.
package struct WebPCoder: ImageDecoder {
    /// The factor of the needed size that libwebp scales to by itself. Its own scaler is a plain average: for a
    /// photograph-like image, scaling to twice the size with a sharper reduction after it is 3 to 6 dB nearer to
    /// the result of a whole decode (45.6 and 51.2 dB at an eighth), in the same time.
    private static let oversampling = 2

    package init() {}

    package var formats: [ImageFormat] { [.webp] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .webp) }

    package func probe(_ data: Data) throws -> ImageInfo { try data.read { try WebPHeader($0).info } }

    package func metadataByteCount(_ data: Data) -> Int {
        data.read { try? WebPHeader($0).metadataByteCount } ?? 0
    }

    package func colorProfile(of data: Data) -> ColorProfile? { data.read { try? WebPHeader($0).colorProfile } }

    /// Returns the memory of libwebp: for lossless data, all pixels; for lossy data, the alpha plane and the data
    /// that it is unpacked from, as encoders write it one byte a pixel each; for an animation, two more canvases.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        let stored = info.storedSize
        guard let header = data.read({ try? WebPHeader($0) }) else { return 0 }
        // An animation of a single frame is also decoded at its full size, on a canvas.
        if info.isAnimated || header.isAnimation { return stored.bitmapBytes * 3 }
        if header.isLossless { return stored.bitmapBytes }
        guard info.hasAlpha else { return 0 }
        return stored.bitmapBytes / 4 + (header.hasPackedAlpha ? stored.bitmapBytes : 0)
    }

    package func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        let stored = info.storedSize
        // A frame lies anywhere on its canvas: scaled by itself, it would not align with the pixels of the canvas.
        guard !info.isAnimated else { return stored }
        let width = size.width.multipliedReportingOverflow(by: Self.oversampling)
        let height = size.height.multipliedReportingOverflow(by: Self.oversampling)
        // Unless it at least halves the image, libwebp's scaling costs more than it saves.
        guard !width.overflow, !height.overflow, width.partialValue <= stored.width / 2,
            height.partialValue <= stored.height / 2
        else { return stored }
        return PixelSize(width.partialValue, height.partialValue)
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let header = try data.read { try WebPHeader($0) }
        guard header.isAnimation else {
            // EXIF may follow the pixels: without it, the image could be shown rotated.
            guard !header.isCut else { throw CodecError.damaged(.webp, reason: "the file was cut off") }
            return try decodeStill(data, plan: plan, context: context)
        }
        let frame = try WebPFirstFrame.decode(data, canvas: plan.storedSize, context: context)
        // An animation of one frame is planned like a still image.
        let whole = ResizeGeometry(source: frame.size, box: plan.nativeSize, mode: .stretch, upscale: false)
        return try frame.resampled(whole, context: context)
    }

    private func decodeStill(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let size = plan.nativeSize
        return try Bitmap(size: size, isOpaque: !plan.info.hasAlpha) { pixels in
            let output = WebPOutput(
                pixels: pixels, bytesPerRow: size.width * 4, size: size,
                isScaled: size != plan.storedSize, hasAlpha: plan.info.hasAlpha)
            try data.withUnsafeBytes { try output.decode($0, context: context) }
        }
    }
}
