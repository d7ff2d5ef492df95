import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A conversion to sRGB, built once for a profile.
///
/// `@unchecked Sendable`: lcms2 only reads the transform after its creation, because the cache that it would write to
/// is disabled.
final class ColorTransform: @unchecked Sendable {
    private let color: OpaquePointer

    private init(_ color: OpaquePointer) { self.color = color }

    deinit { halcyon_color_free(color) }

    /// Builds the conversion; nil if there is nothing to convert: the profile is sRGB's, broken, or made for other
    /// pixels.
    ///
    /// Cost: a few milliseconds for a table-based profile, otherwise a fraction of one.
    ///
    /// - Parameter isDeep: whether the transform is for `deep`; otherwise it is for `convert` or `ink`.
    /// - Throws: `BitmapError.outOfMemory`.
    static func make(_ profile: ColorProfile, isDeep: Bool) throws -> ColorTransform? {
        var isShort = false
        let color = create(profile, isDeep: isDeep, isShort: &isShort)
        guard !isShort else { throw BitmapError.outOfMemory(bytes: 0) }
        return color.map { ColorTransform($0) }
    }

    private static func create(_ profile: ColorProfile, isDeep: Bool, isShort: inout Bool) -> OpaquePointer? {
        switch profile {
        case .icc(let data, let model):
            return data.withUnsafeBytes { bytes in
                halcyon_color_create(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, model.code, isDeep, &isShort)
            }
        case .primaries(let primaries, let curve):
            guard primaries.isUsable else { return nil }
            let points = [primaries.white, primaries.red, primaries.green, primaries.blue].flatMap { [$0.x, $0.y] }
            let samples = curve.samples
            return halcyon_color_create_from_primaries(points, samples, samples.count, isDeep, &isShort)
        }
    }

    /// Returns the pixels in sRGB. Cost: about ten nanoseconds per pixel.
    func convert(_ bitmap: Bitmap) throws -> Bitmap {
        try Bitmap(size: bitmap.size, isOpaque: bitmap.isOpaque) { pixels in
            bitmap.withPixels { pixels.copyMemory(from: $0) }
            halcyon_color_convert(
                color, pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count / 4, bitmap.isOpaque)
        }
    }

    /// The callback that a decoder passes to C to convert CMYK to sRGB. Valid while the transform lives.
    var ink: halcyon_codec_ink {
        halcyon_codec_ink(
            convert: { color, cmyk, bgra, count in
                halcyon_color_convert_ink(color.map { OpaquePointer($0) }, cmyk, bgra, count)
            }, context: UnsafeMutableRawPointer(color))
    }

    /// The callback that a decoder passes to C to convert 16-bit channels before they are rounded to 8 bits. Valid
    /// while the transform lives.
    var deep: halcyon_codec_deep {
        halcyon_codec_deep(
            convert: { color, rgba, bgra, count in
                halcyon_color_convert_deep(color.map { OpaquePointer($0) }, rgba, bgra, count)
            }, context: UnsafeMutableRawPointer(color))
    }
}

extension ColorModel {
    fileprivate var code: halcyon_color_model {
        switch self {
        case .rgb: HALCYON_COLOR_RGB
        case .gray: HALCYON_COLOR_GRAY
        case .cmyk: HALCYON_COLOR_CMYK
        }
    }
}
