import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension JXLCoder: DeepImageDecoder {
    package func deepPixels(of data: Data, info: ImageInfo, for format: DeepBitmap.Format) -> DeepPixels? {
        // Inks are converted to pixels of 8 bits.
        guard let file = try? file(of: data), file.header.isDeep, !file.header.isInk else { return nil }
        let profile = file.codestream.withUnsafeBytes { bytes in
            try? JXLDecoder(bytes, isWhole: false, keepsColors: true, context: .uncancellable).profile
        }
        return DeepPixels(
            channels: file.header.isFloat ? DeepPixels.channelsOfFloats(for: format) : .uint16, profile: profile)
    }

    package func decodeDeep(
        _ data: Data, plan: DecodePlan, format: DeepBitmap.Format, into words: UnsafeMutableRawBufferPointer,
        context: WorkContext
    ) throws {
        let file = try file(of: data)
        guard !file.isCut else { throw JXLFile.cutOff }
        let isFloat = file.header.isFloat && DeepPixels.channelsOfFloats(for: format) == .float16
        try file.codestream.withUnsafeBytes { bytes in
            let decoder = try JXLDecoder(
                bytes, isWhole: true, wanted: JXL_DEC_FULL_IMAGE.rawValue,
                dividesByAlpha: JXLPixels(file.header).dividesByAlpha, keepsColors: true, context: context)
            guard try decoder.next() == JXL_DEC_NEED_IMAGE_OUT_BUFFER else { throw JXLFile.cutOff }
            try decoder.setOutput(words, isFloat ? JXL_TYPE_FLOAT16 : JXL_TYPE_UINT16)
            guard try decoder.next() == JXL_DEC_FULL_IMAGE else { throw JXLFile.cutOff }
        }
    }
}
