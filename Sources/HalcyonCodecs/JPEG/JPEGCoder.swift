import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for JPEG by libjpeg-turbo: baseline and progressive, greyscale, colour and CMYK.
///
/// A decode writes directly into the bitmap, at any multiple of an eighth of the stored size. CMYK is converted to
/// sRGB by its profile, or by plain multiplication if it has none.
package struct JPEGCoder: RowImageDecoder {
    package init() {}

    package var formats: [ImageFormat] { [.jpeg] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .jpeg) }

    package func probe(_ data: Data) throws -> ImageInfo { try data.read { try JPEGHeader($0).info } }

    package func metadataByteCount(_ data: Data) -> Int {
        data.read { try? JPEGHeader($0).metadataByteCount } ?? 0
    }

    package func embeddedThumbnail(in data: Data) -> Data? {
        guard let place = data.read({ try? JPEGHeader($0).thumbnail }) else { return nil }
        return data.dropFirst(place.lowerBound).prefix(place.count)
    }

    package func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        let stored = info.storedSize
        let fitting = (1...8).lazy.map { Self.scaled(stored, eighths: $0) }
            .first { $0.width >= size.width && $0.height >= size.height }
        return fitting ?? stored
    }

    package func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double) {
        let stored = info.storedSize
        let eighths = Double(Self.eighths(of: stored, for: native) ?? 8)
        return (Double(stored.width) * eighths / 8, Double(stored.height) * eighths / 8)
    }

    package func colorProfile(of data: Data) -> ColorProfile? {
        let profile = data.read { try? JPEGHeader($0).colorProfile }
        // The decoder converts CMYK itself, so a bitmap never contains it.
        if case .icc(_, .cmyk) = profile { return nil }
        return profile
    }

    /// Returns the conversion of CMYK to sRGB; nil for other colours, and if no profile defines it.
    static func inkTransform(for data: Data) throws -> ColorTransform? {
        guard case .icc(let profile, .cmyk)? = data.read({ try? JPEGHeader($0).colorProfile }) else { return nil }
        return try ColorTransforms.shared.transform(for: .icc(profile, .cmyk))
    }

    /// The memory of the coefficients, which are kept up to the end of a file with several scans: two bytes each,
    /// as many as samples. For CMYK the conversion is included, because the decoder performs it.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        data.read { reader in
            guard let header = try? JPEGHeader(reader) else { return 0 }
            guard let profile = header.colorProfile, case .icc(_, .cmyk) = profile else {
                return header.coefficientBytes
            }
            return header.coefficientBytes.adding(1, times: profile.workingBytes)
        }
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Bitmap(size: plan.nativeSize, isOpaque: true) { pixels in
            try decode(
                data, plan: plan, into: pixels.baseAddress?.assumingMemoryBound(to: UInt8.self),
                rows: halcyon_codec_rows(), context: context)
        }
    }

    /// Checks that the coefficients are all there, and those of a picture of 8 bits, of which all decoders make the same.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`, `CancellationError`.
    package func checkCoefficients(of data: Data, context: WorkContext) throws {
        try CodecCall.decode(.jpeg, context: context) { call in
            data.withUnsafeBytes { bytes in
                halcyon_jpeg_check_coefficients(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, call)
            }
        }
    }

    private func decode(
        _ data: Data, plan: DecodePlan, into pixels: UnsafeMutablePointer<UInt8>?, rows: halcyon_codec_rows,
        context: WorkContext
    ) throws {
        try data.read { try JPEGScans.check($0, size: plan.storedSize) }
        let transform = try Self.inkTransform(for: data)
        var layout = try Self.layout(plan, ink: transform)
        try CodecCall.decode(.jpeg, context: context, bytes: plan.nativeSize.bitmapBytes) { call in
            data.withUnsafeBytes { bytes in
                // C uses the transform's memory, which is valid while the transform lives.
                withExtendedLifetime(transform) {
                    halcyon_jpeg_decode(
                        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &layout, pixels, rows,
                        call)
                }
            }
        }
    }

    /// Returns the layout of a decode for C.
    ///
    /// - Throws: `CodecError.damaged` if libjpeg cannot scale to the native size.
    static func layout(_ plan: DecodePlan, ink: ColorTransform?) throws -> halcyon_jpeg_layout {
        let (stored, native) = (plan.storedSize, plan.nativeSize)
        guard let eighths = eighths(of: stored, for: native) else {
            throw CodecError.damaged(.jpeg, reason: "\(native) is no size that it decodes to")
        }
        return halcyon_jpeg_layout(
            stored_width: Int32(clamping: stored.width), stored_height: Int32(clamping: stored.height),
            eighths: Int32(eighths), width: Int32(clamping: native.width), height: Int32(clamping: native.height),
            ink: ink?.ink ?? halcyon_codec_ink())
    }

    /// Returns the size that libjpeg scales to: every side is rounded up.
    private static func scaled(_ size: PixelSize, eighths: Int) -> PixelSize {
        PixelSize((size.width * eighths + 7) / 8, (size.height * eighths + 7) / 8)
    }

    /// Returns true. The rows of a file with several scans also come in order, once all of it has been read.
    package func deliversRows(of data: Data, info: ImageInfo) -> Bool { true }

    package func decodeRows(
        of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext
    ) throws {
        try decode(data, plan: plan, into: nil, rows: halcyon_codec_rows(sink), context: context)
    }

    /// Returns the number of eighths that gives `native`. For an image of a few pixels there are several, and the
    /// largest number preserves the most detail.
    static func eighths(of stored: PixelSize, for native: PixelSize) -> Int? {
        (1...8).last { scaled(stored, eighths: $0) == native }
    }
}
