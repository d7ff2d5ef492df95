#if HEIC
    import CHEIF
    import Foundation
    import HalcyonImage

    /// The primary image of a HEIC or HEIF that libheif has parsed, without having decoded anything.
    struct HEICFile {
        let handle: OpaquePointer

        /// Parses the bytes with libheif for as long as `body` runs.
        ///
        /// - Parameter side: the longest side, in pixels, of anything that libheif decodes.
        /// - Throws: `CodecError.damaged`, `.unsupportedFormat`, `.limitExceeded` for long chains of items, and what
        ///   `body` throws.
        static func read<Result>(
            _ bytes: UnsafeRawBufferPointer, side: Int = Bitmap.maximumSide, _ body: (HEICFile) throws -> Result
        ) throws -> Result {
            // libheif would decode AV1 as well; that is libavif's.
            let header = ISOImageHeader(ByteReader(bytes))
            guard !header.hasOnlyAV1 else { throw CodecError.unsupportedFormat(.avif) }
            // libheif passes over what is no box, and would find others behind it that nobody has looked at.
            let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(header.byteCount))
            try ISOItemReferences(ByteReader(bytes)).check(.heic, sourcesMustBeImages: true)
            guard let context = heif_context_alloc() else { throw BitmapError.outOfMemory(bytes: 0) }
            defer { heif_context_free(context) }
            // Tiles one after the other on this thread: decodes run side by side already.
            heif_context_set_max_decoding_threads(context, 0)
            heif_context_set_maximum_image_size_limit(context, Int32(clamping: side))
            try check(heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil))
            var handle: OpaquePointer?
            try check(heif_context_get_primary_image_handle(context, &handle))
            guard let handle else { throw CodecError.damaged(.heic, reason: "it has no image") }
            defer { heif_image_handle_release(handle) }
            return try body(HEICFile(handle: handle))
        }

        var size: PixelSize {
            PixelSize(Int(heif_image_handle_get_width(handle)), Int(heif_image_handle_get_height(handle)))
        }

        /// 8 where the file does not say.
        var bitsPerChannel: Int {
            let bits = Int(heif_image_handle_get_luma_bits_per_pixel(handle))
            return (1...16).contains(bits) ? bits : 8
        }

        /// libheif turns and mirrors by the container while it decodes. An orientation in EXIF does not count beside
        /// it, so the image is upright as it comes.
        var info: ImageInfo {
            ImageInfo(
                format: .heic, size: size, hasAlpha: heif_image_handle_has_alpha_channel(handle) != 0,
                bitsPerChannel: bitsPerChannel, colorSpace: colorSpace)
        }

        private var colorSpace: ColorSpace { profile.map { .icc($0.read { ICCProfile.name(of: $0) }) } ?? .sRGB }

        /// Colours by an ICC profile, else by code points.
        var colorProfile: ColorProfile? {
            if let profile { return .icc(profile, .rgb) }
            var points: UnsafeMutablePointer<heif_color_profile_nclx>?
            let error = heif_image_handle_get_nclx_color_profile(handle, &points)
            guard let points else { return nil }
            // There is one also where libheif does not know its values.
            defer { heif_nclx_color_profile_free(points) }
            guard error.code == heif_error_Ok else { return nil }
            return CodePoints.profile(
                primaries: Int(points.pointee.color_primaries.rawValue),
                transfer: Int(points.pointee.transfer_characteristics.rawValue))
        }

        private var profile: Data? {
            let count = heif_image_handle_get_raw_color_profile_size(handle)
            // What is longer is refused later, by its metadata.
            guard count > 0, count <= 16 << 20 else { return nil }
            var profile = [UInt8](repeating: 0, count: count)
            guard heif_image_handle_get_raw_color_profile(handle, &profile).code == heif_error_Ok else { return nil }
            return Data(profile)
        }

        /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
        static func check(_ error: heif_error) throws {
            guard error.code != heif_error_Ok else { return }
            if error.code == heif_error_Memory_allocation_error,
                error.subcode != heif_suberror_Security_limit_exceeded
            {
                throw BitmapError.outOfMemory(bytes: 0)
            }
            let text = error.message.map { String(cString: $0) } ?? "libheif's error \(error.code.rawValue)"
            throw CodecError.damaged(.heic, reason: text)
        }
    }
#endif
