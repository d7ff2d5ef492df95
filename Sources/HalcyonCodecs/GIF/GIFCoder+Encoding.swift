import Foundation
import HalcyonImage
import HalcyonSystem

extension GIFCoder: AnimatedImageEncoder {
    /// Writes at most 256 colours, exactly those of the image if it has no more. A pixel becomes opaque or
    /// transparent: opaque from half of full alpha on.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        let writer = try GIFWriter(image.size)
        do {
            try writer.append(image.bitmap, x: 0, y: 0, delay: 0, isCleared: false, context: context)
        } catch {
            writer.close()
            throw error
        }
        return writer.close()
    }

    /// The memory of three frames and a part of one, and of the colour indices and channels for the reduction to
    /// 256 colours.
    package func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        0.adding(7, times: animation.size.bitmapBytes)
    }

    /// Writes each frame with its own palette. Durations are rounded to hundredths of a second, at most 655.35 s. A
    /// duration above 10 ms is written as at least 20 ms, because players slow shorter frames down. If a frame and
    /// those before and behind it are opaque, only the changed rectangle is written.
    package func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        let writer = try GIFWriter(animation.size)
        do {
            // Without a loop extension, a GIF plays once.
            if animation.loopCount != 1 { try writer.loop(animation.loopCount) }
            try Self.append(animation, to: writer, context: context)
        } catch {
            writer.close()
            throw error
        }
        return writer.close()
    }

    private static func append(_ animation: AnimatedImage, to writer: GIFWriter, context: WorkContext) throws {
        var last: Bitmap?
        var frame = try animation.frame(at: 0, context: context)
        for index in animation.durations.indices {
            let hasNext = index + 1 < animation.frameCount
            let next = hasNext ? try animation.frame(at: index + 1, context: context) : frame
            // A drawn frame cannot make existing pixels transparent, so the canvas is cleared before a frame with
            // alpha: all of it, where the frame before covers all of it.
            let isCleared = hasNext && !next.isOpaque
            var rect = PixelRect(x: 0, y: 0, width: frame.width, height: frame.height)
            if let last, last.isOpaque, frame.isOpaque, !isCleared {
                rect =
                    FrameDifference.rect(from: last, to: frame) ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
            }
            try writer.append(
                rect.size == frame.size ? frame : try frame.cropped(to: rect), x: rect.x, y: rect.y,
                delay: delay(animation.durations[index]), isCleared: isCleared, context: context)
            (last, frame) = (frame, next)
        }
    }

    /// Returns the duration in hundredths of a second.
    private static func delay(_ duration: Duration) -> Int {
        let hundredths = Int((min(655.35, max(0, duration / .seconds(1))) * 100).rounded())
        // Players show frames of 10 ms and less for 100 ms.
        return duration > .milliseconds(10) ? max(2, hundredths) : hundredths
    }
}
