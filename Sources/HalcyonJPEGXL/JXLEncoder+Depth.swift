import CHalcyonCodecs
import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage

extension JXLCoder {
    package func mostBitsPerChannel(_ format: ImageFormat) -> Int { 16 }
}

extension JXLEncoder {
    /// Begins a file of one picture of 16 bits a channel, integers or floating-point numbers, in its named colour space.
    ///
    /// - Throws: `CodecError.encodingFailed`.
    func begin(_ deep: DeepBitmap, isOpaque: Bool, isLossless: Bool, orientation: Orientation) throws {
        let isFloat = deep.format.channels == .float16
        var info = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&info)
        (info.xsize, info.ysize) = (UInt32(clamping: deep.width), UInt32(clamping: deep.height))
        info.orientation = JxlOrientation(UInt32(orientation.rawValue))
        info.uses_original_profile = isLossless ? 1 : 0
        (info.bits_per_sample, info.exponent_bits_per_sample) = (16, isFloat ? 5 : 0)
        if !isOpaque {
            (info.num_extra_channels, info.alpha_bits, info.alpha_exponent_bits) = (1, 16, isFloat ? 5 : 0)
        }
        // The light of the brightest pixel in cd/m2 of the spaces that are about light; otherwise libjxl's default stays, and is
        // taken for no statement.
        if let light = deep.contentLight() {
            info.intensity_target = Self.peak(light.most)
        } else if deep.format.colorSpace == .bt2020HLG {
            info.intensity_target = 1000
        }
        try check(JxlEncoderSetBasicInfo(encoder, &info))
        var encoding = Self.encoding(of: deep.format.colorSpace)
        try check(JxlEncoderSetColorEncoding(encoder, &encoding))
    }

    /// Returns the number of the file for the light of the brightest pixel, no less than it: a half, and none of those that stand for
    /// no statement, which are libjxl's default of 255 and the end of PQ.
    private static func peak(_ light: Double) -> Float {
        let whole = min(max(1, light.rounded(.up)), 10_000)
        let step = max(1, exp2(log2(whole).rounded(.down) - 10))
        let half = (whole / step).rounded(.up) * step
        return half == 255 ? 256 : half == 10_000 ? 9_992 : Float(half)
    }

    private static func encoding(of space: NamedColorSpace) -> JxlColorEncoding {
        var encoding = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&encoding, 0)
        switch space {
        case .sRGB: break
        case .displayP3: encoding.primaries = JXL_PRIMARIES_P3
        case .bt2020PQ:
            (encoding.primaries, encoding.transfer_function) = (JXL_PRIMARIES_2100, JXL_TRANSFER_FUNCTION_PQ)
        case .bt2020HLG:
            (encoding.primaries, encoding.transfer_function) = (JXL_PRIMARIES_2100, JXL_TRANSFER_FUNCTION_HLG)
        case .linearSRGB: encoding.transfer_function = JXL_TRANSFER_FUNCTION_LINEAR
        }
        return encoding
    }

    /// Adds the picture.
    ///
    /// - Throws: `CodecError.encodingFailed`, `BitmapError.outOfMemory`.
    func add(_ deep: DeepBitmap, isOpaque: Bool) throws {
        let isFloat = deep.format.channels == .float16
        var format = JxlPixelFormat(
            num_channels: isOpaque ? 3 : 4, data_type: isFloat ? JXL_TYPE_FLOAT16 : JXL_TYPE_UINT16,
            endianness: JXL_NATIVE_ENDIAN, align: 0)
        let pixels = deep.width * deep.height
        guard let memory = malloc(deep.byteCount) else { throw BitmapError.outOfMemory(bytes: deep.byteCount) }
        defer { free(memory) }
        let words = memory.assumingMemoryBound(to: UInt16.self)
        deep.withPixels { source in
            guard let source = source.baseAddress?.assumingMemoryBound(to: UInt16.self) else { return }
            if isOpaque {
                halcyon_deep_leave_out_alpha(source, words, pixels)
            } else if isFloat {
                halcyon_deep_divide(source, words, pixels)
            } else {
                halcyon_deep_straighten(source, HALCYON_CHANNELS_UINT16, true, words, pixels)
            }
        }
        try check(JxlEncoderAddImageFrame(settings, &format, memory, pixels * (isOpaque ? 6 : 8)))
    }
}
