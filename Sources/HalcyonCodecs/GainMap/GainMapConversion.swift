import Foundation
import HalcyonImage
import HalcyonSystem

extension GainMap {
    /// Returns the map for an image whose colours were converted to sRGB.
    ///
    /// Gains that are the same for all channels are those of any colour space with the same white. Others are computed anew: the map is
    /// applied in the colours that it was made for, and the result is compared with the image in sRGB.
    ///
    /// - Parameters:
    ///   - picture: the profile of the colours that were converted; nil if none were.
    ///   - own: the profile of the colours that the gains apply to; nil if they are the picture's.
    /// - Returns: nil if a profile does not describe its colours by primaries.
    /// - Throws: `BitmapError`, `CancellationError`.
    func converted(
        from picture: ColorProfile?, _ own: ColorProfile?, of image: Image, context: WorkContext
    ) throws -> GainMap? {
        guard !isMonochrome, let profile = own ?? picture else { return self }
        guard case .icc(let data, .rgb) = profile, let colorants = data.read({ ICCProfile.colorants(of: $0) }) else {
            return nil
        }
        let toSRGB = ColorMatrix3.sRGBColorants.inverse.map { $0 * colorants }
        guard let toSRGB, let fromSRGB = toSRGB.inverse else { return nil }
        guard !toSRGB.isNearlyIdentity else { return self }
        let whole = ResizeGeometry(source: image.size, box: size, mode: .stretch, upscale: true)
        let base = try image.bitmap.resampled(whole, filter: .area, context: context)
        let gains = Gains(of: self, over: base, fromSRGB, toSRGB)
        try context.checkCancellation()
        guard let metadata = gains.metadata(like: metadata) else { return nil }
        return GainMap(bitmap: try gains.bitmap(size, metadata), isMonochrome: false, metadata: metadata)
    }
}

/// The gains of each pixel in sRGB, in stops.
private struct Gains {
    private static let offset = 1.0 / 64

    /// Red, green and blue of each pixel.
    private let values: [SIMD3<Float>]

    init(of map: GainMap, over base: Bitmap, _ fromSRGB: ColorMatrix3, _ toSRGB: ColorMatrix3) {
        let channels = map.metadata.channels
        let curves = channels.map(Self.factors)
        let before = SIMD3(channels.map(\.baseOffset))
        let after = SIMD3(channels.map(\.alternateOffset))
        values = base.withPixels { base in
            map.bitmap.withPixels { map in
                (0..<base.count / 4).map { index in
                    // Bitmaps have blue first.
                    let (red, green, blue) = (index * 4 + 2, index * 4 + 1, index * 4)
                    let usual = SIMD3(
                        SRGBCurve.linear[Int(base[red])], SRGBCurve.linear[Int(base[green])],
                        SRGBCurve.linear[Int(base[blue])])
                    let factors = SIMD3(
                        curves[0][Int(map[red])], curves[1][Int(map[green])], curves[2][Int(map[blue])])
                    let bright = toSRGB * ((fromSRGB * usual + before) * factors - after)
                    let gain = (pointwiseMax(bright, .zero) + Self.offset) / (usual + Self.offset)
                    return SIMD3(Float(log2(gain.x)), Float(log2(gain.y)), Float(log2(gain.z)))
                }
            }
        }
    }

    /// The factor of each value of a channel.
    private static func factors(of channel: GainMap.Channel) -> [Double] {
        (0..<256).map { value in
            let place = pow(Double(value) / 255, 1 / channel.gamma)
            return exp2(channel.minimum + (channel.maximum - channel.minimum) * place)
        }
    }

    func metadata(like former: GainMap.Metadata) -> GainMap.Metadata? {
        guard let first = values.first else { return nil }
        let least = values.reduce(first) { pointwiseMin($0, $1) }
        let most = values.reduce(first) { pointwiseMax($0, $1) }
        let channels = (0..<3).map { channel in
            GainMap.Channel(
                minimum: Double(least[channel]), maximum: Double(most[channel]), baseOffset: Self.offset,
                alternateOffset: Self.offset)
        }
        return GainMap.Metadata(
            red: channels[0], green: channels[1], blue: channels[2], baseHeadroom: former.baseHeadroom,
            alternateHeadroom: former.alternateHeadroom)
    }

    func bitmap(_ size: PixelSize, _ metadata: GainMap.Metadata) throws -> Bitmap {
        let minima = SIMD3(metadata.channels.map { Float($0.minimum) })
        let scales = SIMD3(metadata.channels.map { Float($0.maximum > $0.minimum ? 255 / ($0.maximum - $0.minimum) : 0) })
        return try Bitmap(size: size, isOpaque: true) { pixels in
            for (index, value) in values.enumerated() {
                let place = ((value - minima) * scales).rounded(.toNearestOrAwayFromZero)
                    .clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                pixels[index * 4] = UInt8(place.z)
                pixels[index * 4 + 1] = UInt8(place.y)
                pixels[index * 4 + 2] = UInt8(place.x)
                pixels[index * 4 + 3] = 255
            }
        }
    }
}

/// The curve of sRGB (IEC 61966-2-1).
private enum SRGBCurve {
    /// The linear light of each value.
    static let linear: [Double] = (0..<256).map { value in
        let value = Double(value) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}

/// A matrix that converts three channels.
struct ColorMatrix3 {
    let columns: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
        columns = (first, second, third)
    }

    /// The red, green and blue of sRGB in XYZ with the white D50 of profiles.
    static let sRGBColorants = ColorMatrix3(
        SIMD3(0.436066, 0.222488, 0.013916), SIMD3(0.385151, 0.716873, 0.097076), SIMD3(0.143078, 0.060608, 0.714096))

    /// Whether 8 bits show no difference.
    var isNearlyIdentity: Bool {
        let differences = [columns.0 - SIMD3(1, 0, 0), columns.1 - SIMD3(0, 1, 0), columns.2 - SIMD3(0, 0, 1)]
        return differences.allSatisfy { max(abs($0.x), abs($0.y), abs($0.z)) < 0.002 }
    }

    /// Nil for a matrix whose columns enclose no volume.
    var inverse: ColorMatrix3? {
        func cross(_ left: SIMD3<Double>, _ right: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(
                left.y * right.z - left.z * right.y, left.z * right.x - left.x * right.z,
                left.x * right.y - left.y * right.x)
        }
        let rows = (
            cross(columns.1, columns.2), cross(columns.2, columns.0), cross(columns.0, columns.1)
        )
        let determinant = (columns.0 * rows.0).sum()
        guard abs(determinant) > 1e-6 else { return nil }
        return ColorMatrix3(
            SIMD3(rows.0.x, rows.1.x, rows.2.x) / determinant, SIMD3(rows.0.y, rows.1.y, rows.2.y) / determinant,
            SIMD3(rows.0.z, rows.1.z, rows.2.z) / determinant)
    }

    static func * (left: ColorMatrix3, right: ColorMatrix3) -> ColorMatrix3 {
        ColorMatrix3(left * right.columns.0, left * right.columns.1, left * right.columns.2)
    }

    static func * (matrix: ColorMatrix3, vector: SIMD3<Double>) -> SIMD3<Double> {
        let (first, second, third) = matrix.columns
        return first * vector.x + second * vector.y + third * vector.z
    }
}
