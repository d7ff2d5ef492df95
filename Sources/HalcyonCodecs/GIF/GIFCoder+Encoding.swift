#if GIF
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    extension GIFCoder: AnimatedImageEncoder {
        /// Writes at most 256 colours, exactly the image's own where it has no more; a pixel is there or it is not, from
        /// half its alpha on.
        public func encode(
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

        /// Three frames and a part of one, and with 256 colours their numbers and channels.
        public func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
            0.adding(7, times: animation.size.bitmapBytes)
        }

        /// Each frame has colours of its own. Durations are rounded to hundredths of a second, at most 655.35 s, and no
        /// frame comes under the time below which players slow it down. Opaque frames are written where they change.
        public func encode(
            _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
            context: WorkContext
        ) throws -> Data {
            let writer = try GIFWriter(animation.size)
            do {
                // Without a word a GIF plays once.
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
                var rect = PixelRect(x: 0, y: 0, width: frame.width, height: frame.height)
                if let last, last.isOpaque, frame.isOpaque {
                    rect =
                        FrameDifference.rect(from: last, to: frame) ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
                }
                // Nothing that is drawn can clear what is there, so it is cleared before a frame with alpha.
                try writer.append(
                    rect.size == frame.size ? frame : try frame.cropped(to: rect), x: rect.x, y: rect.y,
                    delay: delay(animation.durations[index]), isCleared: hasNext && !next.isOpaque, context: context)
                (last, frame) = (frame, next)
            }
        }

        /// In hundredths of a second.
        private static func delay(_ duration: Duration) -> Int {
            let hundredths = Int((min(655.35, max(0, duration / .seconds(1))) * 100).rounded())
            // 10 ms and less play as 100 ms.
            return duration > .milliseconds(10) ? max(2, hundredths) : hundredths
        }
    }
#endif
