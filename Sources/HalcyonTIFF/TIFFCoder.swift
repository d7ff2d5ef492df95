import CHalcyonTIFF
import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for TIFF and BigTIFF by libtiff: strips and tiles; grey, palette, RGB, CMYK, CIELab and YCbCr; 1, 2, 4, 8
/// and 16 bits a channel; every compression that the system's libtiff supports. It writes no TIFF.
///
/// Grey, RGB and CMYK also have 9 to 15, 24, 32 and 64 bits a channel, of which the upper ones are shown, and
/// floating-point numbers of 16, 32 and 64 bits, of which 0 is black and 1 is white: what lies outside is clamped, and
/// what is not a number is 0. Negative integers are 0 above 16 bits.
///
/// The pages that have the size of the first one are frames without a duration; other pages are left out.
package struct TIFFCoder: AnimatedImageDecoder, IncompleteImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.tiff] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .tiff) }

    /// Reads the header. Many writers put the directory at the end of the file, so the first 64 KiB may not be
    /// enough.
    package func probe(_ data: Data) throws -> ImageInfo { try data.read { try TIFFHeader($0).info } }

    package func metadataByteCount(_ data: Data) -> Int {
        data.read { try? TIFFHeader($0).metadataByteCount } ?? 0
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try pages(of: data).pixels(at: 0, context: context)
    }

    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try pages(of: data).pixels(at: 0, allowsMissing: true, context: context)
    }

    package func colorProfile(of data: Data) -> ColorProfile? {
        let profile = data.read { try? TIFFHeader($0).colorProfile }
        // CMYK never reaches a bitmap: `decode` converts it itself.
        if case .icc(_, .cmyk) = profile { return nil }
        return profile
    }

    package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
        data.read { try? TIFFHeader($0).extent } ?? CodedExtent(info)
    }

    /// Returns the memory of a stored strip or tile and of the data that libjpeg keeps of it, of two more canvases
    /// for a file of several pages, and of the conversion of CMYK. In the worst case, the strip or tile is the
    /// whole image, or a larger tile, at 16 bits or with more channels than are shown.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        let stored = max(nativeSize.bitmapBytes, codedExtent(of: data, info: info).largest.bitmapBytes)
        let (unit, jpeg, ink) = data.read { reader -> (Int, Int, Int) in
            guard let header = try? TIFFHeader(reader) else { return (0, 0, 0) }
            let isInk = header.pages[0].colorSpace == .cmyk
            return (header.unitBytes, header.jpegBytes(reader), isInk ? header.colorProfile?.workingBytes ?? 0 : 0)
        }
        let bitmaps = max(unit, 0.adding(info.bitsPerChannel > 8 ? 2 : 1, times: stored))
        return bitmaps.adding(1, times: jpeg).adding(1, times: ink)
            .adding(info.isAnimated ? 2 : 0, times: nativeSize.bitmapBytes)
    }

    package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader { try pages(of: data) }

    func pages(of data: Data) throws -> TIFFPages {
        guard case .icc(let profile, .cmyk)? = data.read({ try? TIFFHeader($0).colorProfile }) else {
            return try TIFFPages(data, transform: nil)
        }
        return try TIFFPages(data, transform: try ColorTransforms.shared.transform(for: .icc(profile, .cmyk)))
    }
}

/// A reader of the pages of a TIFF as frames.
struct TIFFPages: FrameReader {
    fileprivate struct Page {
        let offset: Int
        let hasPalette: Bool
        let hasAlpha: Bool
    }

    let frames: [AnimationFrame]
    fileprivate let data: Data
    fileprivate let pages: [Page]
    fileprivate let size: PixelSize
    /// The largest allocation that libtiff may make.
    private let maximumBytes: Int
    /// The conversion from CMYK.
    private let transform: ColorTransform?

    /// - Throws: `CodecError.damaged`.
    init(_ data: Data, transform: ColorTransform?) throws {
        self.data = data
        self.transform = transform
        let header = try data.read { try TIFFHeader($0) }
        let directories = header.pages
        // In addition to a strip or tile, libtiff allocates the tables of offsets, whose numbers take up to four
        // times as many bytes as in the file.
        maximumBytes = (1 << 20).adding(4, times: data.count).adding(1, times: header.unitBytes)
        pages = directories.map { Page(offset: $0.offset, hasPalette: $0.hasPalette, hasAlpha: $0.hasAlpha) }
        size = directories[0].size
        let rect = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        frames = pages.map { _ in AnimationFrame(rect: rect, duration: .zero, blend: .replace) }
    }

    private var ink: halcyon_codec_ink {
        transform?.ink ?? halcyon_codec_ink()
    }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        try pixels(at: index, allowsMissing: false, context: context)
    }

    /// - Parameter allowsMissing: whether the strips or tiles may end before the page does.
    func pixels(at index: Int, allowsMissing: Bool, context: WorkContext) throws -> Bitmap {
        try CodecCall.decode(
            .tiff, size: size, isOpaque: !pages[index].hasAlpha && !allowsMissing, context: context
        ) { bitmap, call in
            data.withUnsafeBytes { bytes in
                var layout = layout(of: pages[index])
                layout.allows_missing = allowsMissing
                return halcyon_tiff_decode(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, layout, bitmap, call)
            }
        }
    }
}

extension TIFFCoder: DeepImageDecoder {
    package func deepPixels(of data: Data, info: ImageInfo, for format: DeepBitmap.Format) -> DeepPixels? {
        data.read { reader in
            guard let header = try? TIFFHeader(reader), let page = header.pages.first, page.isDeep else { return nil }
            return DeepPixels(
                channels: page.isFloat ? DeepPixels.channelsOfFloats(for: format) : .uint16,
                profile: header.colorProfile, isMultiplied: page.isMultiplied)
        }
    }

    package func decodeDeep(
        _ data: Data, plan: DecodePlan, format: DeepBitmap.Format, into words: UnsafeMutableRawBufferPointer,
        context: WorkContext
    ) throws {
        let isFloat = data.read { (try? TIFFHeader($0))?.pages.first?.isFloat } ?? false
        let channels = isFloat ? DeepPixels.channelsOfFloats(for: format) : .uint16
        let pages = try pages(of: data)
        guard pages.size == plan.nativeSize else {
            throw CodecError.damaged(.tiff, reason: "the decoded size differs from the header")
        }
        try pages.decodeDeep(into: words, channels, context: context)
    }
}

extension TIFFPages {
    /// Decodes the first page to RGBA of 16 bits a channel, multiplied by alpha as it is stored.
    fileprivate func decodeDeep(
        into words: UnsafeMutableRawBufferPointer, _ channels: DeepBitmap.Channels, context: WorkContext
    ) throws {
        try CodecCall.decode(.tiff, context: context, bytes: words.count) { call in
            data.withUnsafeBytes { bytes in
                var layout = layout(of: pages[0])
                layout.words = words.baseAddress?.assumingMemoryBound(to: UInt16.self)
                layout.channels = channels.kernel
                let bitmap = halcyon_codec_bitmap(
                    pixels: nil, width: Int32(clamping: size.width), height: Int32(clamping: size.height))
                return halcyon_tiff_decode(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, layout, bitmap, call)
            }
        }
    }

    fileprivate func layout(of page: Page) -> halcyon_tiff_layout {
        halcyon_tiff_layout(
            directory: UInt64(page.offset), has_palette: page.hasPalette, has_alpha: page.hasAlpha,
            allows_missing: false, most_bytes: maximumBytes, ink: ink, words: nil,
            channels: DeepBitmap.Channels.uint16.kernel)
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_tiff")
package func tiffCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(TIFFCoder()) }
