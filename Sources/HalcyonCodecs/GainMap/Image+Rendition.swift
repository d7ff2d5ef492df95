import CHalcyonPixels
import Foundation
import HalcyonImage
import HalcyonSystem

extension Image {
    /// Returns the pixels that a display of a high dynamic range shows of an image with a gain map (`gainMap`); nil without one.
    ///
    /// They are calculated in floating point by the formula of `GainMap`, ISO 21496-1: in linear light, in the colours that the gains
    /// are for, with straight lines between the values of the map. The result does not depend on the place where they are shown: white
    /// is 1 in linear light, and 203 cd/m2 in a space that is absolute. Cost: some 40 ns a pixel, and another 8 bytes a pixel if the
    /// format is another one than the default; no memory is reserved.
    ///
    /// - Parameters:
    ///   - headroom: the headroom of the display in stops: the binary logarithm of its peak divided by its white. Nil, the default, is
    ///     `GainMap.Metadata.alternateHeadroom`, at which the map has its full effect.
    ///   - format: the format of the result. Integers in the spaces that are not PQ or HLG have no light above white.
    /// - Throws: `BitmapError.outOfMemory`; `CancellationError`.
    public func rendition(
        headroom: Double? = nil, as format: DeepBitmap.Format = .init(.float16, colorSpace: .linearSRGB),
        context: WorkContext = .uncancellable
    ) throws -> DeepBitmap? {
        guard let map = gainMap else { return nil }
        let profile = colorProfile.map { ColorProfile(embedded: $0) }
        let gain = try halcyon_gain(map, of: profile, headroom: headroom ?? map.metadata.alternateHeadroom)
        let linear = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)
        let light = try DeepBitmap(size: size, format: linear, isOpaque: bitmap.isOpaque) { words in
            try bitmap.widen(into: words, profile: profile, format: linear, context: context)
            let pixels = halcyon_bitmap(words, size: size, bytesPerPixel: 8)
            let status = map.bitmap.withPixels { bytes in
                // The kernel only reads the map, but C has one struct for both.
                let values = halcyon_bitmap(
                    UnsafeMutableRawBufferPointer(mutating: bytes), size: map.size, bytesPerPixel: 4)
                return withCancellation(context) { cancelled, pointer in
                    withUnsafePointer(to: gain) { halcyon_deep_brighten(pixels, values, $0, cancelled, pointer) }
                }
            }
            if status == HALCYON_CANCELLED { throw CancellationError() }
            if status != HALCYON_OK { throw BitmapError.outOfMemory(bytes: size.width * 16) }
        }
        return try light.converted(to: format, context: context)
    }
}

extension GainMap.Metadata {
    /// Returns the part of the gains that a display of this headroom shows: from 0 to 1, or to -1 if the image is the brighter one.
    fileprivate func weight(at headroom: Double) -> Double {
        let part = (headroom - baseHeadroom) / (alternateHeadroom - baseHeadroom)
        // Comparisons with NaN are false.
        let amount = part > 0 ? min(part, 1) : 0
        return alternateHeadroom > baseHeadroom ? amount : -amount
    }
}

extension halcyon_gain {
    /// - Parameter profile: the colours of the image.
    /// - Throws: `BitmapError.outOfMemory`.
    fileprivate init(_ map: GainMap, of profile: ColorProfile?, headroom: Double) throws {
        self.init()
        let (metadata, weight) = (map.metadata, map.metadata.weight(at: headroom))
        func triple(_ value: (GainMap.Channel) -> Double) -> (Float, Float, Float) {
            (Float(value(metadata.red)), Float(value(metadata.green)), Float(value(metadata.blue)))
        }
        exponent = triple { 1 / $0.gamma }
        minimum = triple { weight * $0.minimum }
        range = triple { weight * ($0.maximum - $0.minimum) }
        base_offset = triple(\.baseOffset)
        alternate_offset = triple(\.alternateOffset)
        // Gains that all channels share are the same in all primaries with one white.
        if map.isMonochrome && metadata.isMonochrome { return }
        let colors =
            metadata.usesBaseColorSpace ? profile : map.colorProfile.map { ColorProfile(embedded: $0) } ?? profile
        guard let colors else { return }
        let back = try DeepConversion.lightOfPrimaries(in: colors)
        let there = back.inverse
        guard there.rows.joined().allSatisfy({ abs($0) < 1_000 }) else { return }
        mixes = true
        (matrix, inverse) = (there.tuple, back.tuple)
    }
}

extension halcyon_bitmap {
    fileprivate init(_ bytes: UnsafeMutableRawBufferPointer, size: PixelSize, bytesPerPixel: Int) {
        self.init(
            pixels: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(size.width),
            height: Int32(size.height), stride: size.width * bytesPerPixel)
    }
}
