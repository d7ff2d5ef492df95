#if WebP
    import CHalcyonCodecs
    import CWebP
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// The memory that libwebp decodes one image into, as premultiplied BGRA.
    struct WebPOutput {
        /// From the image's first pixel on.
        let pixels: UnsafeMutableRawBufferPointer
        let bytesPerRow: Int
        let size: PixelSize
        let isScaled: Bool
        /// Whether alpha may be below 255. Where it may not, it is made 255, whatever the file's pixels say.
        let hasAlpha: Bool

        /// How much more of the file each step gives to libwebp at least; between two steps it can be cancelled.
        private static let step = 1 << 12
        /// From here on a file is given in 8 steps, else in 4: at each, libwebp reads some rows of lossless data again,
        /// which costs 3 % of a small image in 8 steps and 6 % in 16.
        private static let largeFile = 1 << 22

        /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`, `CancellationError`.
        func decode(_ bytes: UnsafeRawBufferPointer, context: WorkContext) throws {
            var config = try makeConfig()
            // libwebp keeps the config's address.
            try withUnsafeMutablePointer(to: &config) { try feed(bytes, config: $0, context: context) }
            // Into a larger buffer libwebp writes a smaller image without a word, and leaves the rest as it was.
            guard config.output.width == size.width, config.output.height == size.height else {
                throw Self.damaged("it has another size than its header says")
            }
            if !hasAlpha {
                // A lossless file may carry alpha in its pixels while its header says that it has none.
                if !Self.isWrittenOpaque(bytes) { forEachRow { halcyon_make_opaque($0, size.width) } }
            } else if !isScaled {
                forEachRow { halcyon_premultiply($0, size.width) }
            }
        }

        /// How libwebp is to write into this memory.
        ///
        /// - Throws: `CodecError.damaged`.
        func makeConfig() throws -> WebPDecoderConfig {
            var config = WebPDecoderConfig()
            guard WebPInitDecoderConfig(&config) != 0 else { throw Self.damaged("libwebp is another version") }
            // libwebp multiplies by alpha rounding down. At full size we do it to the nearest, so that what was
            // encoded without loss comes back without loss; when it scales, it has to do it before.
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

        /// Whether libwebp itself writes 255 as every alpha: lossy pixels have none, unless a chunk of it stands beside
        /// them.
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
#endif
