import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// libjxl's decoder of one codestream, whose headers `JXLFile` has checked. One thread at a time may use it.
final class JXLDecoder {
    private let decoder: OpaquePointer
    /// The context of the present call.
    var context: WorkContext

    /// The colours of the pixels; nil if they are sRGB.
    private(set) var profile: ColorProfile?
    /// The ICC profile of the file, whatever colours the pixels have.
    var embeddedProfile: Data? { icc(JXL_COLOR_PROFILE_TARGET_ORIGINAL) }

    /// Creates a decoder, and reads the headers.
    ///
    /// - Parameters:
    ///   - bytes: the codestream, as far as it is there, which must stay until the next `append`.
    ///   - isWhole: whether no more of it follows.
    ///   - wanted: the events that are wanted after the headers.
    ///   - dividesByAlpha: whether colours that are stored multiplied by their alpha are divided by it.
    ///   - keepsColors: whether colours that are stored in XYB are delivered in the space that the file names, and not in sRGB.
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    init(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool, wanted: JxlDecoderStatus.RawValue = 0,
        dividesByAlpha: Bool = false, keepsColors: Bool = false, context: WorkContext
    ) throws {
        guard let decoder = JxlDecoderCreate(nil) else { throw BitmapError.outOfMemory(bytes: 0) }
        (self.decoder, self.context) = (decoder, context)
        // The registry of coders turns the pixels.
        JxlDecoderSetKeepOrientation(decoder, 1)
        if dividesByAlpha { JxlDecoderSetUnpremultiplyAlpha(decoder, 1) }
        JxlDecoderSetParallelRunner(decoder, jxlRunner, Unmanaged.passUnretained(self).toOpaque())
        JxlDecoderSubscribeEvents(decoder, Int32(JXL_DEC_COLOR_ENCODING.rawValue | wanted))
        feed(bytes, isWhole: isWhole)
        let event = try next()
        guard event == JXL_DEC_COLOR_ENCODING else { throw JXLFile.cutOff }
        chooseColor(keepsColors: keepsColors)
    }

    /// Creates a decoder for the JPEG that a whole file was made from.
    init(file: UnsafeRawBufferPointer, context: WorkContext) throws {
        guard let decoder = JxlDecoderCreate(nil) else { throw BitmapError.outOfMemory(bytes: 0) }
        (self.decoder, self.context) = (decoder, context)
        JxlDecoderSetParallelRunner(decoder, jxlRunner, Unmanaged.passUnretained(self).toOpaque())
        let events = JXL_DEC_JPEG_RECONSTRUCTION.rawValue | JXL_DEC_FULL_IMAGE.rawValue
        JxlDecoderSubscribeEvents(decoder, Int32(events))
        feed(file, isWhole: true)
    }

    deinit { JxlDecoderDestroy(decoder) }

    /// The number of bytes that were given and have not been read, which are to be given again.
    var unreadBytes: Int { JxlDecoderReleaseInput(decoder) }

    fileprivate var isCancelled: Bool { context.isCancelled }

    private func feed(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        JxlDecoderSetInput(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if isWhole { JxlDecoderCloseInput(decoder) }
    }

    /// Appends bytes, which must stay until the next call.
    func append(_ more: UnsafeRawBufferPointer) {
        JxlDecoderReleaseInput(decoder)
        feed(more, isWhole: false)
    }

    /// Returns the next event.
    ///
    /// - Throws: `CodecError.damaged`, `CancellationError`.
    func next() throws -> JxlDecoderStatus {
        let status = JxlDecoderProcessInput(decoder)
        try context.checkCancellation()
        guard status != JXL_DEC_ERROR else { throw CodecError.damaged(.jpegXL, reason: "libjxl cannot decode it") }
        return status
    }

    // MARK: - Colours

    /// Has colours that are stored in XYB delivered in sRGB, unless they are brighter than that, and notes the others' profile.
    private func chooseColor(keepsColors: Bool) {
        var encoding = JxlColorEncoding()
        var hasEncoding = isDescribed(&encoding)
        let isBright =
            hasEncoding
            && (encoding.transfer_function == JXL_TRANSFER_FUNCTION_PQ
                || encoding.transfer_function == JXL_TRANSFER_FUNCTION_HLG)
        if !isBright, !keepsColors || !hasEncoding {
            var wanted = Self.sRGB
            if hasEncoding { wanted.color_space = encoding.color_space }
            // Refused for colours that are not stored in XYB.
            if JxlDecoderSetPreferredColorProfile(decoder, &wanted) == JXL_DEC_SUCCESS {
                hasEncoding = isDescribed(&encoding)
            }
        }
        // The code points of other formats take the curve of BT.709 for that of sRGB. libjxl does not.
        profile =
            hasEncoding && encoding.transfer_function != JXL_TRANSFER_FUNCTION_709
            ? Self.profile(of: encoding, peak: peak)
            : icc(JXL_COLOR_PROFILE_TARGET_DATA).map { .icc($0, Self.model(of: $0)) }
    }

    private static func model(of profile: Data) -> ColorModel {
        profile.read { $0.matches("GRAY", at: 16) ? .gray : $0.matches("CMYK", at: 16) ? .cmyk : .rgb }
    }

    private func isDescribed(_ encoding: inout JxlColorEncoding) -> Bool {
        JxlDecoderGetColorAsEncodedProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &encoding) == JXL_DEC_SUCCESS
    }

    private static var sRGB: JxlColorEncoding {
        var encoding = JxlColorEncoding()
        encoding.color_space = JXL_COLOR_SPACE_RGB
        encoding.white_point = JXL_WHITE_POINT_D65
        encoding.primaries = JXL_PRIMARIES_SRGB
        encoding.transfer_function = JXL_TRANSFER_FUNCTION_SRGB
        encoding.rendering_intent = JXL_RENDERING_INTENT_RELATIVE
        return encoding
    }

    /// The light of the brightest pixel in cd/m2; nil if the file does not say it. The format's default of 255 and the 10,000 of cjxl for
    /// every PQ say nothing.
    private var peak: Double? {
        var info = JxlBasicInfo()
        guard JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS, ![255, 10_000].contains(info.intensity_target)
        else { return nil }
        return Double(info.intensity_target)
    }

    private static func profile(of encoding: JxlColorEncoding, peak: Double?) -> ColorProfile? {
        let curve: TransferCurve =
            switch encoding.transfer_function {
            case JXL_TRANSFER_FUNCTION_LINEAR: .gamma(1)
            case JXL_TRANSFER_FUNCTION_PQ: .pq
            case JXL_TRANSFER_FUNCTION_HLG: .hlg
            case JXL_TRANSFER_FUNCTION_DCI: .gamma(2.6)
            // The exponent of the encoding.
            case JXL_TRANSFER_FUNCTION_GAMMA where encoding.gamma > 0.05: .gamma(1 / encoding.gamma)
            default: .sRGB
            }
        let isGray = encoding.color_space == JXL_COLOR_SPACE_GRAY
        if curve == .sRGB {
            // Grey has the same values whatever its white is.
            if isGray { return nil }
            if encoding.primaries == JXL_PRIMARIES_SRGB, encoding.white_point == JXL_WHITE_POINT_D65 { return nil }
        }
        func point(_ xy: (Double, Double)) -> ColorPrimaries.Point { ColorPrimaries.Point(xy.0, xy.1) }
        let primaries =
            isGray
            ? ColorPrimaries.bt709
            : ColorPrimaries(
                white: point(encoding.white_point_xy), red: point(encoding.primaries_red_xy),
                green: point(encoding.primaries_green_xy), blue: point(encoding.primaries_blue_xy))
        return .primaries(primaries, curve, peak: curve == .pq ? peak : nil)
    }

    private func icc(_ target: JxlColorProfileTarget) -> Data? {
        var count = 0
        guard JxlDecoderGetICCProfileSize(decoder, nil, target, &count) == JXL_DEC_SUCCESS, count > 0 else {
            return nil
        }
        var profile = Data(count: count)
        let status = profile.withUnsafeMutableBytes { bytes in
            JxlDecoderGetColorAsICCProfile(
                decoder, nil, target, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
        }
        return status == JXL_DEC_SUCCESS ? profile : nil
    }

    // MARK: - Pixels

    /// Lets libjxl leave out so many shown frames, of which it decodes those that others need.
    func skip(_ count: Int) {
        if count > 0 { JxlDecoderSkipFrames(decoder, count) }
    }

    /// Sets the memory of the next frame: RGBA of channels of a type.
    ///
    /// - Throws: `CodecError.damaged` if a picture of this size is not what is decoded.
    func setOutput(_ pixels: UnsafeMutableRawBufferPointer, _ type: JxlDataType) throws {
        var format = JxlPixelFormat(num_channels: 4, data_type: type, endianness: JXL_NATIVE_ENDIAN, align: 0)
        var needed = 0
        guard JxlDecoderImageOutBufferSize(decoder, &format, &needed) == JXL_DEC_SUCCESS, needed == pixels.count,
            JxlDecoderSetImageOutBuffer(decoder, &format, pixels.baseAddress, pixels.count) == JXL_DEC_SUCCESS
        else { throw CodecError.damaged(.jpegXL, reason: "the decoded size differs from the header") }
    }

    /// Sets the memory of an extra channel of the next frame, of 8 bits, behind that of its pixels.
    ///
    /// - Throws: `CodecError.damaged` if a picture of this size is not what is decoded.
    func setOutput(_ samples: UnsafeMutableRawBufferPointer, ofChannel channel: Int) throws {
        var format = JxlPixelFormat(
            num_channels: 1, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
        let channel = UInt32(clamping: channel)
        var needed = 0
        guard JxlDecoderExtraChannelBufferSize(decoder, &format, &needed, channel) == JXL_DEC_SUCCESS,
            needed == samples.count,
            JxlDecoderSetExtraChannelBuffer(decoder, &format, samples.baseAddress, needed, channel) == JXL_DEC_SUCCESS
        else { throw CodecError.damaged(.jpegXL, reason: "the decoded size differs from the header") }
    }

    /// Rebuilds the JPEG that the file was made from.
    ///
    /// - Returns: the number of its bytes; nil if the memory is too small.
    /// - Throws: `CodecError.damaged`, `CancellationError`.
    func rebuild(in memory: UnsafeMutableRawPointer, _ capacity: Int) throws -> Int? {
        let start = memory.assumingMemoryBound(to: UInt8.self)
        guard JxlDecoderSetJPEGBuffer(decoder, start, capacity) == JXL_DEC_SUCCESS else {
            throw JXLReconstruction.invalid
        }
        let left: Int
        let event: JxlDecoderStatus
        do {
            event = try next()
            left = JxlDecoderReleaseJPEGBuffer(decoder)
        } catch {
            JxlDecoderReleaseJPEGBuffer(decoder)
            throw error
        }
        switch event {
        case JXL_DEC_FULL_IMAGE: return capacity - left
        case JXL_DEC_JPEG_NEED_MORE_OUTPUT: return nil
        default: throw JXLReconstruction.invalid
        }
    }

    /// Draws what has arrived of the present frame.
    ///
    /// - Returns: false if there is nothing to show yet.
    /// - Throws: `CancellationError`.
    func flush() throws -> Bool {
        let status = JxlDecoderFlushImage(decoder)
        try context.checkCancellation()
        return status == JXL_DEC_SUCCESS
    }
}

/// Runs the parts of libjxl's work one after the other. Decodes already run in parallel.
///
/// A cancelled decode leaves out the rest of its work: libjxl ends the process where some of it fails, and the result is not used.
private func jxlRunner(
    _ owner: UnsafeMutableRawPointer?, _ work: UnsafeMutableRawPointer?,
    _ prepare: (@convention(c) (UnsafeMutableRawPointer?, Int) -> Int32)?,
    _ run: (@convention(c) (UnsafeMutableRawPointer?, UInt32, Int) -> Void)?, _ start: UInt32, _ end: UInt32
) -> Int32 {
    guard let owner, let prepare, let run else { return -1 }
    let decoder = Unmanaged<JXLDecoder>.fromOpaque(owner).takeUnretainedValue()
    let status = prepare(work, 1)
    guard status == 0, start < end else { return status }
    for part in start..<end where !decoder.isCancelled { run(work, part, 0) }
    return 0
}
