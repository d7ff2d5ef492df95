import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder for the icons and cursors of Windows, of which favicons are made: several pictures of one thing, each a PNG or a BMP
/// with a mask. It does not write them.
///
/// The image has the size of the largest picture. A decode to a smaller size takes the smallest picture that is large enough, since
/// small ones are drawn by hand. Entries that cannot be read are left out, as browsers do.
package struct ICOCoder: ImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.ico] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .ico) }

    package func probe(_ data: Data) throws -> ImageInfo {
        let entry = try data.read { try ICODirectory($0).largest }
        return ImageInfo(format: .ico, size: entry.size, hasAlpha: entry.hasAlpha)
    }

    package func scaledSize(of data: Data, info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        (try? data.read { try ICODirectory($0).size(atLeast: size) }) ?? info.storedSize
    }

    package var scalesByAveraging: Bool { false }

    package var formatsOfSeveralSizes: [ImageFormat] { [.ico] }

    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        guard let entry = try? data.read({ try ICODirectory($0).entry(of: nativeSize) }) else { return 0 }
        // A BMP is copied behind a file header, decoded, and masked.
        guard entry.isPNG else { return entry.range.count.adding(2, times: nativeSize.bitmapBytes) }
        let png = Self.bytes(of: entry, in: data)
        return IconPNG(png).workingBytes ?? nativeSize.bitmapBytes
    }

    package func metadataByteCount(_ data: Data) -> Int {
        guard let entry = try? data.read({ try ICODirectory($0).largest }), entry.isPNG else { return 0 }
        return PNGCoder().metadataByteCount(Self.bytes(of: entry, in: data))
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let entry = try data.read { try ICODirectory($0).entry(of: plan.nativeSize) }
        do {
            guard entry.isPNG else {
                return try data.read { reader in
                    let part = reader.part(at: entry.range.lowerBound, length: entry.range.count)
                    return try ICOBitmap(part).decode(part, declaredBytes: entry.declaredBytes, context: context)
                }
            }
            return try IconPNG(Self.bytes(of: entry, in: data)).decode(plan, context: context)
        } catch CodecError.damaged(_, let reason) {
            throw ICODirectory.damaged(reason)
        }
    }

    private static func bytes(of entry: ICODirectory.Entry, in data: Data) -> Data {
        data.dropFirst(entry.range.lowerBound).prefix(entry.range.count)
    }
}

/// A picture of an icon that is a PNG: a still image at its own size, as it is stored, since systems turn no icons. The limits hold
/// for the icon, whose sizes are those of its pictures.
package struct IconPNG {
    private static let coder = PNGCoder(readsOrientation: false)
    private static let coders = CoderRegistry([coder])
    /// The bytes that the description is read from: a file of many pictures may have the same millions of chunks for each.
    private static let headerBytes = 1 << 16
    private let png: Data

    package init(_ png: Data) {
        self.png = png
    }

    /// Returns the description of the PNG at the beginning of some bytes; nil if there is none. If its pixels begin late, it may have
    /// alpha that is declared before them.
    package static func info(of reader: ByteReader) -> ImageInfo? {
        let header = reader.part(at: 0, length: headerBytes)
        guard var info = try? coder.probe(Data(header.bytes)) else { return nil }
        if !PNGChunks(header).contains(where: { $0.isNamed("IDAT") }) { info.hasAlpha = true }
        return info
    }

    /// The memory of its decode in bytes; nil if it cannot be read.
    package var workingBytes: Int? { try? plan(convertsColor: true).workingBytes }

    /// - Parameter icon: the plan of the icon, which says what becomes of the colours.
    package func decode(_ icon: DecodePlan, context: WorkContext) throws -> Bitmap {
        let plan = try plan(convertsColor: icon.convertsColor)
        return try Self.coders.decode(png, plan: plan, context: context).bitmap
    }

    private func plan(convertsColor: Bool) throws -> DecodePlan {
        let limits = DecodeLimits.all.reduce(into: DecodeLimits()) { $0[keyPath: $1] = .max }
        let options = DecodeOptions(color: convertsColor ? .sRGB : .asStored, firstFrameOnly: true, limits: limits)
        return try Self.coders.plan(png, options: options)
    }
}
