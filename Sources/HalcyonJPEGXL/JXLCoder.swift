import CHalcyonCodecs
import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A coder for JPEG XL by libjxl, stills and animations: integers of 8 to 32 bits and floating point, ICC profiles and named colours,
/// alpha, layers and spot colours, in boxes and as a bare codestream.
///
/// A decode works at the stored size. Above 8 bits, colours are converted before they are rounded. Colours that are stored in XYB, as
/// those of every lossy file are, come in sRGB from libjxl. Files with a channel of black ink are refused.
package struct JXLCoder: ImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.jpegXL] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .jpegXL) }

    package func probe(_ data: Data) throws -> ImageInfo {
        let file = try JXLFile(data)
        guard !file.header.extraChannels.contains(where: { $0.kind == .black }) else {
            throw CodecError.damaged(.jpegXL, reason: "its channel of black ink is not supported")
        }
        return file.info
    }

    package func metadataByteCount(_ data: Data) -> Int { (try? JXLFile(data))?.metadataByteCount ?? 0 }

    package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
        (try? JXLFile(data))?.extent ?? CodedExtent(info)
    }

    package func colorProfile(of data: Data) -> ColorProfile? {
        guard let file = try? JXLFile(data), !file.header.isDeep else { return nil }
        return profile(of: file)
    }

    package func embeddedProfile(of data: Data) -> Data? {
        // An animation of more than 8 bits is sRGB in any case.
        guard let file = try? JXLFile(data), !file.header.isDeep || !file.info.isAnimated,
            case .icc(let profile, _)? = profile(of: file)
        else { return nil }
        return profile
    }

    /// The profile of the pixels that libjxl delivers.
    private func profile(of file: JXLFile) -> ColorProfile? {
        guard !file.header.isDeliveredInSRGB else { return nil }
        return file.codestream.withUnsafeBytes { bytes in
            try? JXLDecoder(bytes, isWhole: false, context: .uncancellable).profile
        }
    }

    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        guard let file = try? JXLFile(data) else { return 0 }
        let profile = file.header.isDeep ? profile(of: file)?.workingBytes ?? 0 : 0
        return file.workingBytes.adding(1, times: profile)
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let file = try JXLFile(data)
        guard !file.isCut else { throw JXLFile.cutOff }
        let pixels = JXLPixels(file.header)
        return try file.codestream.withUnsafeBytes { bytes in
            let decoder = try JXLDecoder(
                bytes, isWhole: true, wanted: JXL_DEC_FULL_IMAGE.rawValue, dividesByAlpha: pixels.dividesByAlpha,
                context: context)
            return try pixels.bitmap(of: decoder, converts: plan.converts(decoder.profile) || file.info.isAnimated)
        }
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_jpegxl")
package func jpegXLCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(JXLCoder()) }

extension JXLFile {
    /// The most memory that libjxl takes for one frame, in bytes, with the frames that others refer to.
    var workingBytes: Int { Self.workingBytes(frames, header).adding(1, times: codestream.count) }

    static func workingBytes(_ frames: [JXLFrameIndex.Frame], _ header: JXLImageHeader) -> Int {
        let channels = 3 + header.extraChannels.count
        var (frame, kept) = (0, [Int: Int]())
        for each in frames {
            let pixels = each.header.size.area ?? .max
            let bytes = each.header.channelBytes(hasExtraChannels: !header.extraChannels.isEmpty)
            frame = max(frame, 0.adding(channels * bytes, times: pixels))
            if let slot = each.header.slot { kept[slot] = max(kept[slot] ?? 0, pixels) }
        }
        let canvas = header.size.area ?? .max
        // Frames that are blended, and pixels of more than 8 bits, are kept as floating point before they are rounded.
        let isWhole = header.isDeep || frames.contains { !$0.header.replacesAll }
        return kept.values.reduce(frame) { $0.adding(channels * 4, times: $1) }
            .adding(isWhole ? channels * 4 : 0, times: canvas).adding(header.isDeep ? 8 : 0, times: canvas)
            .adding(1, times: 2 << 20)
    }
}
