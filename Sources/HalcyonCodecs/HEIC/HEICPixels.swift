#if HEIC
    import CHEIF
    import CHalcyonCodecs
    import HalcyonImage

    /// The image that libheif decoded: RGBA, upright, with 8 bits per channel or up to 16.
    final class HEICPixels {
        private let image: OpaquePointer
        private let bits: Int
        private let isMultiplied: Bool

        /// Decodes the image of a file.
        ///
        /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
        init(_ file: HEICFile) throws {
            guard let options = heif_decoding_options_alloc() else { throw BitmapError.outOfMemory(bytes: 0) }
            defer { heif_decoding_options_free(options) }
            options.pointee.strict_decoding = 1
            bits = file.bitsPerChannel
            isMultiplied = heif_image_handle_is_premultiplied_alpha(file.handle) != 0
            // With an 8-bit layout, libheif would truncate the lower bits.
            let chroma = bits > 8 ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA
            var image: OpaquePointer?
            try HEICFile.check(heif_decode_image(file.handle, &image, heif_colorspace_RGB, chroma, options))
            guard let image else { throw CodecError.damaged(.heic, reason: "it has no pixels") }
            self.image = image
        }

        deinit { heif_image_release(image) }

        /// Returns the pixels as a bitmap.
        ///
        /// - Throws: `CodecError.damaged` if the pixels do not match the header.
        func bitmap(plan: DecodePlan) throws -> Bitmap {
            let size = plan.nativeSize
            let channel = heif_channel_interleaved
            var stride: Int32 = 0
            guard heif_image_get_width(image, channel) == size.width,
                heif_image_get_height(image, channel) == size.height,
                let plane = heif_image_get_plane_readonly(image, channel, &stride),
                Int(stride) >= size.width * (bits > 8 ? 8 : 4),
                heif_image_get_bits_per_pixel_range(image, channel) == bits
            else { throw CodecError.damaged(.heic, reason: "its pixels are not what its header says") }
            return try Bitmap(size: size, isOpaque: !plan.info.hasAlpha) { pixels in
                guard let target = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                for y in 0..<size.height {
                    let source = plane + y * Int(stride)
                    halcyon_rgba_to_bgra(source, target + y * size.width * 4, size.width, Int32(bits))
                }
                if !plan.info.hasAlpha {
                    halcyon_make_opaque(target, size.width * size.height)
                } else if !isMultiplied {
                    halcyon_premultiply(target, size.width * size.height)
                }
            }
        }
    }
#endif
