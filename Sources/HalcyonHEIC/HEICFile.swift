import CHEIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage

/// The primary image of a HEIC or HEIF file that libheif has parsed without decoding any picture.
struct HEICFile {
    let handle: OpaquePointer
    private let bytes: UnsafeRawBufferPointer

    /// Parses the bytes with libheif, and keeps the image while `body` runs.
    ///
    /// - Parameter side: the maximum number of pixels on the longest side of any picture that libheif decodes.
    /// - Throws: `CodecError.damaged`, `.unsupportedFormat`, `.limitExceeded` for long chains of items,
    ///   `BitmapError.outOfMemory`, and the errors of `body`.
    static func read<Result>(
        _ bytes: UnsafeRawBufferPointer, side: Int = Bitmap.maximumSide, _ body: (HEICFile) throws -> Result
    ) throws -> Result {
        // libheif would also decode AV1, which is left to libavif.
        let header = ISOImageHeader(ByteReader(bytes))
        guard !header.hasOnlyAV1 else { throw CodecError.unsupportedFormat(.avif) }
        // libheif skips bytes that are not a box, and would find boxes behind them that have not been checked.
        let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(header.byteCount))
        try ISOItemReferences(ByteReader(bytes)).check(.heic, sourcesMustBeImages: true)
        guard let context = heif_context_alloc() else { throw BitmapError.outOfMemory(bytes: 0) }
        defer { heif_context_free(context) }
        // Tiles are decoded one after the other on this thread, because decodes already run in parallel.
        heif_context_set_max_decoding_threads(context, 0)
        heif_context_set_maximum_image_size_limit(context, Int32(clamping: side))
        try check(heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil))
        var handle: OpaquePointer?
        try check(heif_context_get_primary_image_handle(context, &handle))
        guard let handle else { throw CodecError.damaged(.heic, reason: "it has no image") }
        defer { heif_image_handle_release(handle) }
        return try body(HEICFile(handle: handle, bytes: bytes))
    }

    var size: PixelSize {
        PixelSize(Int(heif_image_handle_get_width(handle)), Int(heif_image_handle_get_height(handle)))
    }

    /// Whether the file stores pixels that are multiplied by their alpha.
    var isMultiplied: Bool { heif_image_handle_is_premultiplied_alpha(handle) != 0 }

    /// The number of bits per channel; 8 if the file does not declare it.
    var bitsPerChannel: Int {
        let bits = Int(heif_image_handle_get_luma_bits_per_pixel(handle))
        return (1...16).contains(bits) ? bits : 8
    }

    /// The description of the image. libheif applies the container's rotation and mirroring while it decodes, and
    /// an EXIF orientation does not apply in addition, so decoded images are upright.
    var info: ImageInfo {
        ImageInfo(
            format: .heic, size: size, hasAlpha: heif_image_handle_has_alpha_channel(handle) != 0,
            bitsPerChannel: bitsPerChannel, colorSpace: colorSpace)
    }

    private var colorSpace: ColorSpace { profile.map { .icc($0.read { ICCProfile.name(of: $0) }) } ?? .sRGB }

    /// The ICC profile, or else the profile that the code points describe.
    var colorProfile: ColorProfile? {
        if let profile { return .icc(profile, .rgb) }
        var points: UnsafeMutablePointer<heif_color_profile_nclx>?
        let error = heif_image_handle_get_nclx_color_profile(handle, &points)
        guard let points else { return nil }
        // The structure is allocated even if libheif does not know its values.
        defer { heif_nclx_color_profile_free(points) }
        guard error.code == heif_error_Ok else { return nil }
        return CodePoints.profile(
            primaries: Int(points.pointee.color_primaries.rawValue),
            transfer: Int(points.pointee.transfer_characteristics.rawValue),
            peak: ISOContentLight.peak(of: ByteReader(bytes), format: .heic))
    }

    /// The profile by which pixels of more than 8 bits are converted before they are rounded: that of PQ and HLG, which
    /// would show steps.
    var deepProfile: ColorProfile? {
        guard bitsPerChannel > 8, let profile = colorProfile, profile.resolved.isHighDynamicRange else { return nil }
        return profile
    }

    private var profile: Data? {
        let count = heif_image_handle_get_raw_color_profile_size(handle)
        // A longer profile is refused later by the limit on metadata.
        guard count > 0, count <= 16 << 20 else { return nil }
        var profile = [UInt8](repeating: 0, count: count)
        guard heif_image_handle_get_raw_color_profile(handle, &profile).code == heif_error_Ok else { return nil }
        return Data(profile)
    }

    /// Converts an error of libheif.
    ///
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

/// The image that libheif decoded: RGBA, upright, with 8 bits per channel or up to 16.
final class HEICPixels {
    private let image: OpaquePointer
    private let bits: Int
    private let isMultiplied: Bool
    private let deepProfile: ColorProfile?

    /// Decodes the image of a file.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    init(_ file: HEICFile) throws {
        guard let options = heif_decoding_options_alloc() else { throw BitmapError.outOfMemory(bytes: 0) }
        defer { heif_decoding_options_free(options) }
        options.pointee.strict_decoding = 1
        bits = file.bitsPerChannel
        (isMultiplied, deepProfile) = (file.isMultiplied, file.deepProfile)
        // With an 8-bit layout, libheif would truncate the lower bits.
        let chroma = bits > 8 ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA
        var image: OpaquePointer?
        try HEICFile.check(heif_decode_image(file.handle, &image, heif_colorspace_RGB, chroma, options))
        guard let image else { throw CodecError.damaged(.heic, reason: "it has no pixels") }
        self.image = image
    }

    deinit { heif_image_release(image) }

    /// Returns the pixels as a bitmap, converted before they are rounded if they have to be.
    ///
    /// - Throws: `CodecError.damaged` if the pixels do not match the header, `BitmapError.outOfMemory`.
    func bitmap(plan: DecodePlan) throws -> Bitmap {
        let profile = plan.converts(deepProfile) ? deepProfile : nil
        let transform = try ColorTransforms.shared.transform(for: profile, isDeep: true)
        let size = plan.nativeSize
        return try Bitmap(size: size, isOpaque: !plan.info.hasAlpha) { pixels in
            guard let target = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            var words = [UInt16](repeating: 0, count: transform == nil ? 0 : size.width * 4)
            try forEachRow(of: size) { y, source in
                let row = target + y * size.width * 4
                guard let transform else { return halcyon_rgba_to_bgra(source, row, size.width, Int32(bits)) }
                let deep = transform.deep
                halcyon_deep_expand(source, Int32(bits), &words, size.width)
                if isMultiplied { words.divideByAlpha() }
                withExtendedLifetime(transform) { deep.convert?(deep.context, words, row, size.width) }
            }
            if !plan.info.hasAlpha {
                halcyon_make_opaque(target, size.width * size.height)
            } else if !isMultiplied || transform != nil {
                halcyon_premultiply(target, size.width * size.height)
            }
        }
    }

    /// Writes RGBA of 16 bits a channel, multiplied by alpha if `isMultiplied`.
    ///
    /// - Throws: `CodecError.damaged` if the pixels do not match the header.
    func write(to words: UnsafeMutableRawBufferPointer, size: PixelSize) throws {
        guard bits > 8, let target = words.baseAddress?.assumingMemoryBound(to: UInt16.self) else {
            throw CodecError.damaged(.heic, reason: "its pixels do not match its header")
        }
        try forEachRow(of: size) { y, source in
            halcyon_deep_expand(source, Int32(bits), target + y * size.width * 4, size.width)
        }
    }

    private func forEachRow(of size: PixelSize, _ body: (Int, UnsafePointer<UInt8>) -> Void) throws {
        let channel = heif_channel_interleaved
        var stride: Int32 = 0
        guard heif_image_get_width(image, channel) == size.width,
            heif_image_get_height(image, channel) == size.height,
            let plane = heif_image_get_plane_readonly(image, channel, &stride),
            Int(stride) >= size.width * (bits > 8 ? 8 : 4),
            heif_image_get_bits_per_pixel_range(image, channel) == bits
        else { throw CodecError.damaged(.heic, reason: "its pixels do not match its header") }
        for y in 0..<size.height { body(y, plane + y * Int(stride)) }
    }
}

extension [UInt16] {
    /// Makes premultiplied pixels straight, since tones are those of the colours themselves.
    fileprivate mutating func divideByAlpha() {
        withUnsafeMutableBufferPointer { words in
            guard let start = words.baseAddress else { return }
            halcyon_deep_straighten(start, HALCYON_CHANNELS_UINT16, true, start, words.count / 4)
        }
    }
}
