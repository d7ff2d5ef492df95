#if JPEG
    import CHalcyonCodecs
    import HalcyonImage
    import HalcyonSystem
    import Foundation

    /// Owns the C state of a progressive decode. Must be used by one thread at a time.
    final class JPEGStream {
        private let size: PixelSize
        private let stream: OpaquePointer
        /// Retained because the stream refers to it.
        private let ink: ColorTransform?

        /// Creates the stream.
        ///
        /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
        init(plan: DecodePlan, ink: ColorTransform?) throws {
            size = plan.nativeSize
            self.ink = ink
            var layout = try JPEGCoder.layout(plan, ink: ink)
            guard let stream = halcyon_jpeg_stream_create(&layout) else { throw BitmapError.outOfMemory(bytes: 0) }
            self.stream = stream
        }

        deinit { halcyon_jpeg_stream_free(stream) }

        var progress: halcyon_jpeg_progress { halcyon_jpeg_stream_progress(stream) }

        func append(_ data: Data, context: WorkContext) throws {
            try CodecCall.decode(.jpeg, context: context) { call in
                data.withUnsafeBytes { bytes in
                    halcyon_jpeg_stream_append(
                        stream, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, call)
                }
            }
        }

        /// Returns the pixels that are decoded so far; opaque only if none is missing.
        func bitmap(context: WorkContext) throws -> Bitmap {
            let progress = progress
            let isWhole = progress.has_scans || Int(progress.rows) == size.height
            return try CodecCall.decode(.jpeg, size: size, isOpaque: isWhole, context: context) { bitmap, call in
                halcyon_jpeg_stream_read(stream, bitmap, call)
            }
        }
    }
#endif
