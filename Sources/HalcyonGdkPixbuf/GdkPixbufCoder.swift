import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A decoder for the formats that the loaders of gdk-pixbuf read on a desktop and no other coder of Halcyon does: PNM, TGA, XPM,
/// XBM, ICNS, JPEG 2000 where somebody has installed a loader for it, and the first frame of ANI. It writes none.
///
/// Loaders are old C code, and some are modules of third parties, so files are decoded in workers only (`requiresIsolation`). Headers
/// are read here, in Swift, and checked against the limits before a loader sees the file. The format alone says which loader gets
/// it: none looks at the bytes to find out.
package struct GdkPixbufCoder: ImageDecoder, PreparedDecoder {
    package init() {}

    package var formats: [ImageFormat] { FormatProduct.ofLoaders }

    package var requiresIsolation: Bool { true }

    package func prepare() { Loaders.open() }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.loaderFormat(of: data) != nil }

    /// Reads the header. The pictures of an ICNS may stand anywhere in the file, so that the first 64 KiB are not enough.
    package func probe(_ data: Data) throws -> ImageInfo { try picture(in: data).info }

    package var scalesByAveraging: Bool { false }

    package var formatsOfSeveralSizes: [ImageFormat] { [.icns] }

    package func scaledSize(of data: Data, info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        (try? picture(in: data))?.size(atLeast: size) ?? info.storedSize
    }

    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        (try? picture(in: data))?.workingBytes(of: data, at: nativeSize) ?? 0
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        // The registry sees to it too; no loader is ever opened anywhere else.
        guard DecodeWorker.isRunning else {
            throw CodecError.isolationUnavailable("the loaders of \(plan.info.format) run in workers only")
        }
        return try picture(in: data).decode(data, plan: plan, context: context)
    }

    /// Reads the header of the file.
    private func picture(in data: Data) throws -> any LoadedPicture {
        try data.read { reader in
            switch FormatSniffer.loaderFormat(of: data) {
            case .pnm: try PNMHeader(reader)
            case .tga: try TGAHeader(reader)
            case .xpm: try XPMHeader(reader)
            case .xbm: try XBMHeader(reader)
            case .icns: try ICNSFile(reader)
            case .ani: try ANIFile(reader)
            case .jpeg2000: try JPEG2000Header(reader)
            default: throw CodecError.notAnImage("of another format")
            }
        }
    }
}

/// A file, as far as it is read here.
protocol LoadedPicture {
    /// The facts in the header.
    var info: ImageInfo { get }

    /// Returns the size of the smallest picture in the file that is at least as large.
    func size(atLeast size: PixelSize) -> PixelSize

    /// Returns the memory of the decode in bytes, beside the file and the bitmap.
    func workingBytes(of data: Data, at native: PixelSize) -> Int

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap
}

extension LoadedPicture {
    func size(atLeast size: PixelSize) -> PixelSize { info.storedSize }

    func damaged(_ reason: String) -> CodecError { .damaged(info.format, reason: reason) }
}

/// The header of a file that goes to a loader as it is.
protocol LoaderHeader: LoadedPicture {
    /// The names that a loader for the format may have, the best one first.
    var loaders: [String] { get }

    /// Checks that all pixels are there, for a loader that does not: some leave those out that a file does not have.
    ///
    /// - Throws: `CodecError.damaged`.
    func checkPixels(_ reader: ByteReader) throws
}

extension LoaderHeader {
    var loaders: [String] { [info.format.name] }

    func checkPixels(_ reader: ByteReader) throws {}

    /// The loader's own pixels, and pieces of the file.
    func workingBytes(of data: Data, at native: PixelSize) -> Int { native.bitmapBytes.adding(1, times: 1 << 20) }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try data.read(checkPixels)
        return try Loaders.decode(data, as: info, by: loaders, size: plan.nativeSize, context: context)
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_gdk_pixbuf")
package func gdkPixbufCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(GdkPixbufCoder()) }
