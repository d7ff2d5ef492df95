import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A conversion to sRGB, built once for a profile: by lcms2, and of PQ and HLG by `ToneMapping`.
///
/// `@unchecked Sendable`: lcms2 only reads the transform after its creation, because the cache that it would write to
/// is disabled.
package final class ColorTransform: @unchecked Sendable {
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
    package static func make(_ profile: ColorProfile, isDeep: Bool) throws -> ColorTransform? {
        var isShort = false
        let color = create(profile, isDeep: isDeep, isShort: &isShort)
        guard !isShort else { throw BitmapError.outOfMemory(bytes: 0) }
        return color.map { ColorTransform($0) }
    }

    private static func create(_ profile: ColorProfile, isDeep: Bool, isShort: inout Bool) -> OpaquePointer? {
        switch profile.resolved {
        case .icc(let data, let model):
            return data.withUnsafeBytes { bytes in
                halcyon_color_create(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, model.code, isDeep, &isShort)
            }
        case .primaries(let primaries, let curve, let peak):
            guard primaries.isUsable else { return nil }
            let points = [primaries.white, primaries.red, primaries.green, primaries.blue].flatMap { [$0.x, $0.y] }
            guard let samples = curve.samples else {
                return ToneMapping(primaries, curve, peak: peak).makeColor(isShort: &isShort)
            }
            return halcyon_color_create_from_primaries(points, samples, samples.count, isDeep, &isShort)
        }
    }

    /// Returns the pixels in sRGB. Cost: about ten nanoseconds per pixel.
    package func convert(_ bitmap: Bitmap) throws -> Bitmap {
        try Bitmap(size: bitmap.size, isOpaque: bitmap.isOpaque) { pixels in
            bitmap.withPixels { pixels.copyMemory(from: $0) }
            halcyon_color_convert(
                color, pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count / 4, bitmap.isOpaque)
        }
    }

    /// Returns a sink that converts rows to sRGB and passes them to another one, which the caller holds.
    func converting(into sink: RowSink, isOpaque: Bool) -> RowSink {
        var row = [UInt8](repeating: 0, count: sink.sourceSize.width * 4)
        return RowSink(passing: sink.sourceSize) { [self, unowned sink] pixels in
            guard !sink.isFull else { return }
            row.withUnsafeMutableBytes { copy in
                copy.copyMemory(from: pixels)
                halcyon_color_convert(
                    color, copy.baseAddress?.assumingMemoryBound(to: UInt8.self), copy.count / 4, isOpaque)
                sink.append(UnsafeRawBufferPointer(copy))
            }
        }
    }

    /// The callback that a decoder passes to C to convert CMYK to sRGB. Valid while the transform lives.
    package var ink: halcyon_codec_ink {
        halcyon_codec_ink(
            convert: { color, cmyk, bgra, count in
                halcyon_color_convert_ink(color.map { OpaquePointer($0) }, cmyk, bgra, count)
            }, context: UnsafeMutableRawPointer(color))
    }

    /// The callback that a decoder passes to C to convert 16-bit channels before they are rounded to 8 bits. Valid
    /// while the transform lives.
    package var deep: halcyon_codec_deep {
        halcyon_codec_deep(
            convert: { color, rgba, bgra, count in
                halcyon_color_convert_deep(color.map { OpaquePointer($0) }, rgba, bgra, count)
            }, context: UnsafeMutableRawPointer(color))
    }
}

extension ColorModel {
    var code: halcyon_color_model {
        switch self {
        case .rgb: HALCYON_COLOR_RGB
        case .gray: HALCYON_COLOR_GRAY
        case .cmyk: HALCYON_COLOR_CMYK
        }
    }
}

/// A cache of the last few conversions, since most images of a program share the same profiles.
package final class ColorTransforms: Sendable {
    package static let shared = ColorTransforms()

    private static let capacity = 16
    /// The maximum length in bytes of a profile that is cached. Profiles of displays and cameras are shorter, and
    /// memory held here counts towards no budget.
    private static let longestProfile = 1 << 20

    /// A profile in plain fields: inside an enumeration, its bytes would be referenced through a tagged pointer, which
    /// the leak sanitizer does not follow.
    private struct Key: Equatable {
        let bytes: [UInt8]
        var model: ColorModel?
        var primaries: ColorPrimaries?
        var curve: TransferCurve?
        var peak: Double?
        let isDeep: Bool

        init(_ profile: ColorProfile, isDeep: Bool) {
            self.isDeep = isDeep
            switch profile {
            case .icc(let data, let model):
                bytes = [UInt8](data)
                self.model = model
            case .primaries(let primaries, let curve, let peak):
                bytes = []
                self.primaries = primaries
                self.curve = curve
                self.peak = peak
            }
        }
    }

    private struct Entry {
        let key: Key
        /// Nil if there is nothing to convert.
        let transform: ColorTransform?
    }

    /// The cached conversions, with the most recently used one at the end.
    private let entries = Lock<[Entry]>([])

    /// Returns the conversion that the pixels of the plan's decode still need; nil if they need none.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    package func transform(for plan: DecodePlan, of data: Data, _ decoder: any ImageDecoder) throws -> ColorTransform? {
        let profile = decoder.colorProfile(of: data)
        return plan.converts(profile) ? try transform(for: profile) : nil
    }

    /// Returns a cached conversion or builds it; nil if there is nothing to convert.
    ///
    /// - Throws: `BitmapError.outOfMemory`, which is not cached.
    package func transform(for profile: ColorProfile?, isDeep: Bool = false) throws -> ColorTransform? {
        guard let profile else { return nil }
        if case .icc(let data, _) = profile, data.count > Self.longestProfile {
            return try ColorTransform.make(profile, isDeep: isDeep)
        }
        let key = Key(profile, isDeep: isDeep)
        let known = entries.withLock { entries -> Entry? in
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry
        }
        if let known { return known.transform }
        // Two threads may build the same conversion, which only duplicates the work.
        let transform = try ColorTransform.make(profile, isDeep: isDeep)
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeFirst() }
            entries.append(Entry(key: key, transform: transform))
        }
        return transform
    }
}
