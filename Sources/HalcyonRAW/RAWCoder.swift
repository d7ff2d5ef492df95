import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A decoder for the raw files of cameras (DNG, CR2, CR3, NEF, ARW, ORF, RW2, RAF, PEF), which shows the largest preview that the
/// camera has put into the file and never converts the values of the sensor. It writes none.
///
/// The structure is read here, without a library: the place of the preview is all that is needed, and a reader of sensors is a
/// large one for hostile bytes. The preview is a JPEG, which the coder of JPEG decodes where it lies in the file, or plain
/// pixels.
package struct RAWCoder: RowImageDecoder {
    private let jpeg = JPEGCoder()

    package init() {}

    package var formats: [ImageFormat] { [.raw] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .raw) }

    /// Reads the directories and the header of the preview, which may stand anywhere in the file: the first 64 KiB may not be
    /// enough.
    package func probe(_ data: Data) throws -> ImageInfo { try data.read { try RAWFile($0).info } }

    package func metadataByteCount(_ data: Data) -> Int { picture(in: data).map(jpeg.metadataByteCount) ?? 0 }

    package func colorProfile(of data: Data) -> ColorProfile? { picture(in: data).flatMap(jpeg.colorProfile) }

    package func embeddedThumbnail(in data: Data) -> Data? { picture(in: data).flatMap(jpeg.embeddedThumbnail) }

    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        picture(in: data).map { jpeg.workingBytes(of: $0, info: info, nativeSize: nativeSize) } ?? 0
    }

    package func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        jpeg.scaledSize(for: info, atLeast: size)
    }

    package func scaledSize(of data: Data, info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        picture(in: data) == nil ? info.storedSize : jpeg.scaledSize(for: info, atLeast: size)
    }

    package func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double) {
        jpeg.coverage(of: info, at: native)
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        guard let picture = picture(in: data) else { return try pixels(of: data, size: plan.nativeSize) }
        return try Self.reporting { try jpeg.decode(picture, plan: plan, context: context) }
    }

    package func deliversRows(of data: Data, info: ImageInfo) -> Bool { picture(in: data) != nil }

    package func decodeRows(of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext) throws {
        guard let picture = picture(in: data) else { throw RAWFile.damaged("its preview is no JPEG") }
        try Self.reporting { try jpeg.decodeRows(of: picture, plan: plan, into: sink, context: context) }
    }

    /// Returns the JPEG of the preview, without a copy; nil if the preview is plain pixels, or if there is none.
    private func picture(in data: Data) -> Data? {
        guard let preview = data.read({ try? RAWFile($0).preview }), preview.isJPEG else { return nil }
        return data.dropFirst(preview.place.lowerBound).prefix(preview.place.count)
    }

    /// Returns a preview of plain pixels, of three bytes each.
    private func pixels(of data: Data, size: PixelSize) throws -> Bitmap {
        try data.read { reader in
            let preview = try RAWFile(reader).preview
            let part = reader.part(at: preview.place.lowerBound, length: preview.place.count).bytes
            guard !preview.isJPEG, preview.info.storedSize == size, part.count == 3 * (size.area ?? .max) else {
                throw RAWFile.damaged("its preview has another size")
            }
            return try Bitmap(size: size, isOpaque: true) { pixels in
                for index in 0..<part.count / 3 {
                    let (red, green, blue) = (part[3 * index], part[3 * index + 1], part[3 * index + 2])
                    let pixel = 0xFF00_0000 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
                    pixels.storeBytes(of: pixel.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
                }
            }
        }
    }

    /// Calls work on the preview, whose damage is that of the file.
    private static func reporting<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch CodecError.damaged(_, let reason) {
            throw RAWFile.damaged("its preview is damaged: \(reason)")
        }
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_raw")
package func rawCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(RAWCoder()) }
