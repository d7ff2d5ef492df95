import CHalcyonCodecs
import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A coder for JPEG XL by libjxl, stills and animations: integers of 8 to 32 bits and floating point, ICC profiles and named colours,
/// CMYK, alpha, layers and spot colours, in boxes and as a bare codestream.
///
/// A decode works at the stored size. Above 8 bits, colours are converted before they are rounded. Colours that are stored in XYB, as
/// those of every lossy file are, come in sRGB from libjxl, those of inks included. Other inks are converted to sRGB by the profile of
/// the file.
package struct JXLCoder: ImageDecoder {
    private var opened: OpenedFile<JXLFile>?

    package init() {}

    package var formats: [ImageFormat] { [.jpegXL] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .jpegXL) }

    package func probe(_ data: Data) throws -> ImageInfo { try file(of: data).info }

    package func metadataByteCount(_ data: Data) -> Int { (try? file(of: data))?.metadataByteCount ?? 0 }

    package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
        (try? file(of: data))?.extent ?? CodedExtent(info)
    }

    package func colorProfile(of data: Data) -> ColorProfile? {
        // The decoder converts these itself.
        guard let file = try? file(of: data), !file.header.isDeep, !file.header.isInk else { return nil }
        return file.deliveredProfile
    }

    package func embeddedProfile(of data: Data) -> Data? {
        // An animation of more than 8 bits is sRGB in any case, and so are inks.
        guard let file = try? file(of: data), !file.header.isDeep || !file.info.isAnimated, !file.header.isInk,
            case .icc(let profile, _)? = file.deliveredProfile
        else { return nil }
        return profile
    }

    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        guard let file = try? file(of: data) else { return 0 }
        let converts = file.header.isDeep || file.header.isInk
        return file.workingBytes.adding(1, times: converts ? file.deliveredProfile?.workingBytes ?? 0 : 0)
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let file = try file(of: data)
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

extension JXLCoder: SizeFirstImageDecoder {
    package func declaredSize(inBeginning data: Data) throws(CodecError) -> PixelSize? {
        let header = JXLFile.header(inBeginning: data)
        try header?.checkSize()
        return header?.size
    }
}

extension JXLCoder: OpeningImageDecoder {
    package func opening(_ data: Data) -> JXLCoder {
        var coder = self
        coder.opened = OpenedFile(data) { try JXLFile($0) }
        return coder
    }

    /// Returns the headers of a file, which are known already if the coder was opened for it.
    ///
    /// - Throws: the errors of `JXLFile`.
    func file(of data: Data) throws -> JXLFile { try opened?.headers(of: data) ?? JXLFile(data) }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_jpegxl")
package func jpegXLCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(JXLCoder()) }

extension JXLFile {
    /// The most memory that libjxl takes, in bytes, with its copy of the codestream.
    var workingBytes: Int { index.workingBytes.adding(1, times: codestream.count) }
}
