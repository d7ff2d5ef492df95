import CHEIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for HEIC and HEIF still images by libheif: 8, 10 and 12 bits, grids and alpha. It decodes the primary
/// image of several.
///
/// A decode works at the stored size, in one step that cannot be cancelled; more than 8 bits are rounded to 8, those
/// of PQ and HLG after they are converted, unless they are asked for. HEIC is written by the module HalcyonHEICEncoding.
package struct HEICCoder: ISOImageDecoder {
    package init() {}

    package var isoFormat: ImageFormat { .heic }

    package func probe(_ data: Data) throws -> ImageInfo {
        try data.withUnsafeBytes { bytes in
            let header = ISOImageHeader(ByteReader(bytes))
            try header.check()
            let items = try ISOItems(ByteReader(bytes), format: .heic)
            try items.check()
            try items.checkProperties()
            let head = header.isCut ? HEICHead.file(ByteReader(bytes)) : nil
            var info =
                try head?.withUnsafeBytes { try HEICFile.read($0) { $0.info } } ?? HEICFile.read(bytes) { $0.info }
            // The data of the canvases may not have arrived.
            if !header.isCut { try items.checkCanvases(ByteReader(bytes)) }
            guard !info.size.isEmpty else { throw CodecError.damaged(.heic, reason: "its size is zero") }
            info.hasGainMap = items.hasGainMap
            return info
        }
    }

    package func colorProfile(of data: Data) -> ColorProfile? {
        data.withUnsafeBytes { bytes in
            try? HEICFile.read(bytes) { $0.deepProfile == nil ? $0.colorProfile : nil }
        }
    }

    package func embeddedProfile(of data: Data) -> Data? {
        let profile = data.withUnsafeBytes { bytes in (try? HEICFile.read(bytes) { $0.colorProfile }) ?? nil }
        guard case .icc(let data, _) = profile else { return nil }
        return data
    }

    /// The memory of the decoder's planes at up to 16 bits, including one for alpha, and of the RGBA image that
    /// libheif makes of them.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        let decoded = data.read { try? ISOItems($0, format: .heic).decodedBytes(of: nativeSize) }
        return 0.adding(info.bitsPerChannel > 8 ? 4 : 2, times: decoded ?? nativeSize.bitmapBytes)
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.pixels(of: data, plan: plan, context: context).bitmap(plan: plan)
    }

    private static func pixels(of data: Data, plan: DecodePlan, context: WorkContext) throws -> HEICPixels {
        try data.withUnsafeBytes { bytes in
            let header = ISOImageHeader(ByteReader(bytes))
            guard !header.isCut else { throw CodecError.damaged(.heic, reason: "the file was cut off") }
            // Coded sides are multiples of 64 at most, and a tile may be larger than a small image.
            let side = max(plan.storedSize.width, plan.storedSize.height, header.longestSide) + 64
            return try HEICFile.read(bytes, side: side) { file in
                let pixels = try HEICPixels(file)
                try context.checkCancellation()
                return pixels
            }
        }
    }
}

extension HEICCoder: PreparedDecoder {
    /// libheif looks for its plugins.
    package func prepare() { _ = HEVCDecoder.isRegistered }
}

extension HEICCoder: DeepImageDecoder {
    package func deepPixels(of data: Data, info: ImageInfo, for format: DeepBitmap.Format) -> DeepPixels? {
        data.withUnsafeBytes { bytes in
            try? HEICFile.read(bytes) { file in
                file.bitsPerChannel > 8
                    ? DeepPixels(profile: file.colorProfile, isMultiplied: file.isMultiplied) : nil
            }
        }
    }

    package func decodeDeep(
        _ data: Data, plan: DecodePlan, format: DeepBitmap.Format, into words: UnsafeMutableRawBufferPointer,
        context: WorkContext
    ) throws {
        try Self.pixels(of: data, plan: plan, context: context).write(to: words, size: plan.nativeSize)
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_heic")
package func heicCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(HEICCoder()) }
