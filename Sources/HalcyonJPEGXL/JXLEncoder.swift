import CHalcyonCodecs
import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// libjxl's encoder of one file. One thread at a time may use it.
final class JXLEncoder {
    let encoder: OpaquePointer
    let settings: OpaquePointer
    private var output = Data()

    /// - Throws: `BitmapError.outOfMemory`.
    init() throws {
        guard let encoder = JxlEncoderCreate(nil) else { throw BitmapError.outOfMemory(bytes: 0) }
        guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
            JxlEncoderDestroy(encoder)
            throw BitmapError.outOfMemory(bytes: 0)
        }
        (self.encoder, self.settings) = (encoder, settings)
    }

    deinit { JxlEncoderDestroy(encoder) }

    // MARK: - Header

    /// Begins a file of pictures of this size.
    ///
    /// - Parameters:
    ///   - profile: the ICC profile of the pixels; nil for sRGB.
    ///   - loops: the number of times that the pictures play, for an animation; nil for a still image.
    /// - Throws: `CodecError.encodingFailed`.
    func begin(
        _ size: PixelSize, isOpaque: Bool, isLossless: Bool, orientation: Orientation = .up, profile: Data? = nil,
        loops: Int? = nil
    ) throws {
        var info = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&info)
        (info.xsize, info.ysize) = (UInt32(clamping: size.width), UInt32(clamping: size.height))
        info.orientation = JxlOrientation(UInt32(orientation.rawValue))
        info.uses_original_profile = isLossless ? 1 : 0
        if !isOpaque { (info.num_extra_channels, info.alpha_bits) = (1, 8) }
        if let loops {
            info.have_animation = 1
            (info.animation.tps_numerator, info.animation.tps_denominator) = (Self.ticks, 1)
            info.animation.num_loops = UInt32(clamping: loops)
        }
        try check(JxlEncoderSetBasicInfo(encoder, &info))
        guard let profile else {
            var sRGB = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&sRGB, 0)
            return try check(JxlEncoderSetColorEncoding(encoder, &sRGB))
        }
        try profile.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            try check(JxlEncoderSetICCProfile(encoder, start, bytes.count))
        }
    }

    /// The number of ticks in a second: durations are whole milliseconds.
    private static let ticks: UInt32 = 1000

    /// Sets how the frames are coded.
    ///
    /// - Throws: `CodecError.encodingFailed`.
    func set(_ options: EncodeOptions) throws {
        if options.isLossless {
            try check(JxlEncoderSetFrameLossless(settings, 1))
        } else {
            let distance = Self.distance(try options.checkedQuality(for: .jpegXL))
            try check(JxlEncoderSetFrameDistance(settings, distance))
        }
        if options.isProgressive {
            let option = options.isLossless ? JXL_ENC_FRAME_SETTING_RESPONSIVE : JXL_ENC_FRAME_SETTING_PROGRESSIVE_AC
            try check(JxlEncoderFrameSettingsSetOption(settings, option, 1))
        }
        try setEffort(options)
    }

    private func setEffort(_ options: EncodeOptions) throws {
        guard let level = options.effortLevel(8) else { return }
        try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, Int64(1 + level)))
    }

    /// Returns the distance of a quality from 0 to 1 by the curve of libjxl's own tool, which follows that of libjpeg; 15, the most,
    /// below 0.08.
    static func distance(_ quality: Double) -> Float {
        let percent = quality * 100
        let distance = percent >= 30 ? 0.1 + (100 - percent) * 0.09 : 6.4 + pow(2.5, (30 - percent) / 5) / 6.25
        return Float(min(15, distance))
    }

    // MARK: - Frames

    /// Adds a picture.
    ///
    /// - Throws: `CodecError.encodingFailed`, `BitmapError.outOfMemory`.
    func add(_ bitmap: Bitmap, isOpaque: Bool) throws {
        var format = JxlPixelFormat(
            num_channels: isOpaque ? 3 : 4, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
        let count = bitmap.width * bitmap.height
        guard let memory = malloc(count * 4) else { throw BitmapError.outOfMemory(bytes: count * 4) }
        defer { free(memory) }
        let pixels = memory.assumingMemoryBound(to: UInt8.self)
        bitmap.withPixels { source in
            guard let source = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            halcyon_unpremultiply(source, pixels, count)
        }
        // The same change turns blue, green and red around again.
        halcyon_rgba_to_bgra(pixels, pixels, count, 8)
        if isOpaque {
            for pixel in 1..<max(1, count) {
                for channel in 0..<3 { pixels[pixel * 3 + channel] = pixels[pixel * 4 + channel] }
            }
        }
        try check(JxlEncoderAddImageFrame(settings, &format, memory, count * (isOpaque ? 3 : 4)))
    }

    /// Adds a frame of an animation.
    ///
    /// - Parameter former: the frame before, of which only what differs is written; nil writes all of it.
    /// - Throws: `CodecError.encodingFailed`, `BitmapError.outOfMemory`.
    func add(_ frame: Bitmap, after former: Bitmap?, isOpaque: Bool, milliseconds: Int) throws {
        var header = JxlFrameHeader()
        JxlEncoderInitFrameHeader(&header)
        header.duration = UInt32(clamping: milliseconds)
        header.layer_info.save_as_reference = 1
        var part = frame
        if let former {
            let rect =
                FrameDifference.rect(from: former, to: frame)
                ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
            part = try frame.cropped(to: rect)
            header.layer_info.have_crop = 1
            (header.layer_info.crop_x0, header.layer_info.crop_y0) = (Int32(rect.x), Int32(rect.y))
            (header.layer_info.xsize, header.layer_info.ysize) = (UInt32(rect.size.width), UInt32(rect.size.height))
            header.layer_info.blend_info.source = 1
        }
        try check(JxlEncoderSetFrameHeader(settings, &header))
        if !isOpaque {
            var blend = header.layer_info.blend_info
            try check(JxlEncoderSetExtraChannelBlendInfo(settings, 0, &blend))
        }
        try add(part, isOpaque: isOpaque)
    }

    /// Adds a JPEG as it is, with what it takes to rebuild it. Header and profile are the JPEG's.
    ///
    /// - Throws: `CodecError.encodingFailed` for one that is not whole, of more than 8 bits, arithmetically coded, or of other than one
    ///   or three channels.
    func add(jpeg: Data, effort: Double?) throws {
        try setEffort(EncodeOptions(effort: effort))
        try check(JxlEncoderStoreJPEGMetadata(encoder, 1))
        try jpeg.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            try check(JxlEncoderAddJPEGFrame(settings, start, bytes.count))
        }
    }

    /// Returns the file.
    ///
    /// - Throws: `CodecError.encodingFailed`.
    func finish() throws -> Data {
        JxlEncoderCloseInput(encoder)
        try drain()
        return output
    }

    /// Takes what has been written.
    fileprivate func drain() throws {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let (status, count) = part.withUnsafeMutableBufferPointer { buffer in
                var (next, left) = (buffer.baseAddress, buffer.count)
                let status = JxlEncoderProcessOutput(encoder, &next, &left)
                return (status, buffer.count - left)
            }
            output.append(contentsOf: part[..<count])
            guard status == JXL_ENC_NEED_MORE_OUTPUT else { return try check(status) }
        }
    }

    func check(_ status: JxlEncoderStatus) throws {
        guard status != JXL_ENC_SUCCESS else { return }
        switch JxlEncoderGetError(encoder) {
        case JXL_ENC_ERR_OOM: throw BitmapError.outOfMemory(bytes: 0)
        case JXL_ENC_ERR_JBRD: throw Self.failed("this JPEG could not be rebuilt")
        case JXL_ENC_ERR_BAD_INPUT: throw Self.unknownKind
        default: throw Self.failed("libjxl cannot write it")
        }
    }

    /// The error for a JPEG that JPEG XL cannot keep.
    static var unknownKind: CodecError { failed("the JPEG is not whole, or of a kind that JPEG XL does not hold") }

    private static func failed(_ reason: String) -> CodecError { .encodingFailed(.jpegXL, reason: reason) }
}

extension JXLCoder: ImageEncoder {
    package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { !options.isLossless }

    package func writesMetadata(_ format: ImageFormat) -> Bool { true }

    /// Writes 8 bits a channel, or deep pixels with 16, at a quality, or losslessly, with alpha if any pixel is not opaque.
    ///
    /// The encode cannot be cancelled once libjxl has started.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        let encoder = try JXLEncoder()
        if let deep = image.deepBitmap, options.isDeep {
            let isOpaque = deep.hasOpaquePixelsOnly
            try encoder.begin(
                deep, isOpaque: isOpaque, isLossless: options.isLossless,
                orientation: options.storedOrientation(of: image))
            try encoder.set(options)
            try encoder.add(deep, isOpaque: isOpaque)
            try context.checkCancellation()
            return try encoder.finish()
        }
        let isOpaque = image.bitmap.hasOpaquePixelsOnly
        try encoder.begin(
            image.size, isOpaque: isOpaque, isLossless: options.isLossless,
            orientation: options.storedOrientation(of: image), profile: image.colorProfile)
        try encoder.set(options)
        try encoder.add(image.bitmap, isOpaque: isOpaque)
        try context.checkCancellation()
        return try encoder.finish()
    }
}

extension JXLCoder: AnimatedImageEncoder {
    /// Returns the memory of a frame as it is converted, and of libjxl's planes of floating point and its work on them.
    package func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        0.adding(24, times: animation.size.bitmapBytes)
    }

    /// Writes the frames, lossy by quality, or the parts of them that change, losslessly. Durations are rounded to milliseconds, and are
    /// 49 days at most.
    ///
    /// libjxl 0.7 writes what memory held before into a part that is lossy, at low quality, and ends the process at the highest effort.
    package func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        let isOpaque = try animation.isOpaque(context)
        let encoder = try JXLEncoder()
        try encoder.begin(
            animation.size, isOpaque: isOpaque, isLossless: options.isLossless, loops: animation.loopCount)
        try encoder.set(options)
        var (written, former) = (0, Bitmap?.none)
        // One more than this stands for a page, which has no duration.
        let longest = Int(UInt32.max) - 1
        for (index, end) in animation.endsInMilliseconds(shortest: 1, longest: longest).enumerated() {
            let frame = try animation.frame(at: index, context: context)
            // The last frame is marked as such, so that the ones before it are written once another one comes.
            if index > 0 { try encoder.drain() }
            try encoder.add(frame, after: former, isOpaque: isOpaque, milliseconds: end - written)
            (written, former) = (end, options.isLossless ? frame : nil)
            try context.checkCancellation()
        }
        return try encoder.finish()
    }
}
