#if WebP
    import CWebP
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// Decodes the first frame of an animated WebP, on its canvas.
    ///
    /// The canvas is transparent around the frame, as in browsers: the background colour of the file is only a hint. A
    /// file whose later frames are truncated still yields its first one, as with GIF.
    enum WebPFirstFrame {
        static func decode(_ data: Data, canvas: PixelSize, context: WorkContext) throws -> Bitmap {
            let first = data.read { WebPFrameEntry.all(in: $0, canvas: canvas) }.first
            guard first?.isTrue != false else { throw damaged("a frame has another size than its place") }
            return try data.withUnsafeBytes { bytes in
                var source = WebPData(
                    bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
                guard let demuxer = WebPDemuxPartial(&source, nil) else { throw damaged("its frames cannot be found") }
                defer { WebPDemuxDelete(demuxer) }
                var frame = WebPIterator()
                guard WebPDemuxGetFrame(demuxer, 1, &frame) != 0 else { throw damaged("it has no whole frame") }
                defer { WebPDemuxReleaseIterator(&frame) }
                guard frame.complete != 0 else { throw damaged("its first frame was cut off") }
                return try decode(frame, canvas: canvas, context: context)
            }
        }

        private static func decode(_ frame: WebPIterator, canvas: PixelSize, context: WorkContext) throws -> Bitmap {
            let (left, top) = (Int(frame.x_offset), Int(frame.y_offset))
            let size = PixelSize(Int(frame.width), Int(frame.height))
            guard left >= 0, top >= 0, !size.isEmpty, left <= canvas.width - size.width,
                top <= canvas.height - size.height
            else { throw damaged("its first frame lies outside the canvas") }
            let isWhole = size == canvas
            let hasAlpha = frame.has_alpha != 0
            return try Bitmap(size: canvas, isOpaque: isWhole && !hasAlpha) { pixels in
                if !isWhole { pixels.initializeMemory(as: UInt8.self, repeating: 0) }
                let start = (top * canvas.width + left) * 4
                let output = WebPOutput(
                    pixels: UnsafeMutableRawBufferPointer(rebasing: pixels[start...]), bytesPerRow: canvas.width * 4,
                    size: size, isScaled: false, hasAlpha: hasAlpha)
                let fragment = UnsafeRawBufferPointer(start: frame.fragment.bytes, count: frame.fragment.size)
                try output.decode(fragment, context: context)
            }
        }

        private static func damaged(_ reason: String) -> CodecError { .damaged(.webp, reason: reason) }
    }
#endif
