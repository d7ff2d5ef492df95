import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

extension PNGCoder: DeepImageDecoder {
    /// Nil for an APNG whose first frame is not the image that other programs show: its frames are drawn in 8 bits.
    package func deepPixels(of data: Data, info: ImageInfo, for format: DeepBitmap.Format) -> DeepPixels? {
        let (bits, isAnimation) = data.read { ($0.byte(24), PNGHeader.isAnimation($0)) }
        // With alpha, pixels of fewer bits are converted as they are decoded, and what is beyond sRGB would be lost.
        let isConverted = data.read { PNGHeader.isDeep($0) && PNGColor.profile($0) != nil }
        guard bits == 16 || isConverted, !isAnimation || APNGFrames(data, info: info)?.beginsWithDefaultImage == true
        else {
            return nil
        }
        return DeepPixels(profile: data.read { PNGColor.profile($0) })
    }

    package func decodeDeep(
        _ data: Data, plan: DecodePlan, format: DeepBitmap.Format, into words: UnsafeMutableRawBufferPointer,
        context: WorkContext
    ) throws {
        let size = plan.nativeSize
        try CodecCall.decode(.png, context: context, bytes: words.count) { call in
            data.withUnsafeBytes { bytes in
                halcyon_png_decode_deep(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, Int32(clamping: size.width),
                    Int32(clamping: size.height), words.baseAddress?.assumingMemoryBound(to: UInt16.self), call)
            }
        }
    }
}

extension PNGCoder {
    package func mostBitsPerChannel(_ format: ImageFormat) -> Int { 16 }

    /// Writes 16 bits a channel, with the colour space as code points (`cICP`), and for programs that do not know these as
    /// chromaticities and a gamma where there is one; PQ with its brightest and mean light (`cLLI`).
    ///
    /// - Throws: `CodecError.encodingFailed`, `BitmapError.outOfMemory`, `CancellationError`.
    static func encode(_ deep: DeepBitmap, orientation: Orientation, context: WorkContext) throws -> Data {
        let space = deep.format.colorSpace
        let integers = try deep.converted(to: .init(.uint16, colorSpace: space), context: context)
        let file = try CodecCall.encode(integers, as: .png, context: context) { words, size, isOpaque, output, call in
            halcyon_png_encode_deep(words, size.width, size.height, isOpaque, space == .sRGB, output, call)
        }
        var described = chunks(of: space)
        if let light = integers.contentLight() {
            described.append(chunk("cLLI", [light.most, light.mean].map { UInt32(($0 * 10_000).rounded()) }))
        }
        return try PNGMetadata.insert(orientation, nil, chunks: described, into: file)
    }

    /// The chunks that describe a space. That of sRGB is libpng's.
    private static func chunks(of space: NamedColorSpace) -> [Data] {
        guard space != .sRGB else { return [] }
        let (primaries, transfer) = space.codePoints
        // The code point of RGB without a matrix, and all of the range.
        let points = Data("cICP".utf8) + [primaries, transfer, 0, 1]
        let gamma: UInt32
        switch space {
        case .linearSRGB: gamma = 100_000
        case .displayP3: gamma = 45_455
        default: return [points]
        }
        let colors = space.description.primaries
        let numbers = [colors.white, colors.red, colors.green, colors.blue].flatMap { [$0.x, $0.y] }
        return [
            points, chunk("cHRM", numbers.map { UInt32(($0 * 100_000).rounded()) }), chunk("gAMA", [gamma]),
        ]
    }

    private static func chunk(_ name: String, _ numbers: [UInt32]) -> Data {
        numbers.reduce(into: Data(name.utf8)) { data, number in
            withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
        }
    }
}
