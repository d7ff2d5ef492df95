import CHalcyonCodecs
import CHalcyonPixels
import Foundation
import HalcyonImage
import HalcyonSystem

/// A conversion of pixels of 16 bits a channel from the colours of a file to a named colour space.
///
/// It goes by way of linear light in floating point: a profile by lcms2, primaries and curves by their formulas, so that nothing is
/// clipped on the way. Pixels that are in the space already keep their values.
final class DeepConversion {
    private var kernel = halcyon_deep_conversion()
    private let profile: LightProfile?
    private let target: DeepBitmap.Format

    /// - Parameters:
    ///   - source: the pixels before it. A profile that is broken or made for other channels is ignored.
    ///   - isOpaque: whether every alpha is full.
    /// - Throws: `BitmapError.outOfMemory`.
    init(from source: DeepPixels, to target: DeepBitmap.Format, isOpaque: Bool) throws {
        self.target = target
        (kernel.from, kernel.to) = (source.channels.kernel, target.channels.kernel)
        (kernel.is_multiplied, kernel.is_opaque) = (source.isMultiplied, isOpaque)
        let space = target.colorSpace.description
        kernel.encode = space.curve.kernel
        var (primaries, curve) = (ColorPrimaries.bt709, TransferCurve.sRGB)
        var light: LightProfile?
        switch source.profile?.resolved {
        case .icc(let data, let model): light = try LightProfile(data, model)
        case .primaries(let own, let ownCurve, _):
            (primaries, curve) = (Self.exact(own), ownCurve)
        case nil: break
        }
        profile = light
        kernel.decode = curve.kernel
        if let light { kernel.profile = light.kernel }
        kernel.keeps_colors = light == nil && primaries == space.primaries && curve == space.curve
        let matrix = Self.matrix(from: primaries, to: space.primaries)
        kernel.matrix = matrix.tuple
        if light != nil, changesNothing { kernel.keeps_colors = true }
    }

    /// Returns the primaries of a named space for those near them, since files name the same points with other numbers of digits.
    private static func exact(_ own: ColorPrimaries) -> ColorPrimaries {
        let known = [ColorPrimaries.bt709, .displayP3, .bt2020].first { $0.isNear(own) }
        return known ?? (own.isUsable ? own : .bt709)
    }

    /// Returns the rows of the matrix of linear light, exactly that of no change for the same primaries.
    private static func matrix(from primaries: ColorPrimaries, to target: ColorPrimaries) -> Matrix3 {
        let changing = primaries == target ? nil : primaries.matrix(to: target)
        return changing ?? .diagonal([1, 1, 1])
    }

    /// Converts straight or multiplied pixels in place to multiplied ones.
    ///
    /// - Throws: `CancellationError`.
    func convert(_ words: UnsafeMutableRawBufferPointer, context: WorkContext) throws {
        let status = withExtendedLifetime(profile) {
            withCancellation(context) {
                halcyon_deep_convert(
                    words.baseAddress?.assumingMemoryBound(to: UInt16.self), words.count / 8, &kernel, $0, $1)
            }
        }
        if status == HALCYON_CANCELLED { throw CancellationError() }
    }

    /// Returns the matrix to the linear light of sRGB from the light of the primaries that a profile describes, whatever its curve is.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    static func lightOfPrimaries(in profile: ColorProfile) throws -> Matrix3 {
        if case .primaries(let own, _, _) = profile.resolved { return matrix(from: exact(own), to: .bt709) }
        let source = DeepPixels(channels: .float16, profile: profile)
        let light = try DeepConversion(
            from: source, to: .init(.float16, colorSpace: .linearSRGB), isOpaque: true)
        var colors: [Float] = [1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]
        withExtendedLifetime(light.profile) { halcyon_deep_convert_floats(&colors, 3, &light.kernel) }
        return Matrix3(rows: (0..<3).map { row in (0..<3).map { Double(colors[$0 * 4 + row]) } })
    }

    /// Whether a profile describes the space itself: a grid of colours and some greys keep their values within a thousandth.
    private var changesNothing: Bool {
        guard target.colorSpace == .sRGB || target.colorSpace == .displayP3 else { return false }
        var before: [Float] = []
        for index in 0..<6 * 6 * 6 {
            before += [index % 6, index / 6 % 6, index / 36].map { Float($0) / 5 } + [1]
        }
        for grey in 0..<64 { before += [Float](repeating: Float(grey) / 63, count: 3) + [1] }
        var after = before
        withExtendedLifetime(profile) { halcyon_deep_convert_floats(&after, after.count / 4, &kernel) }
        return zip(before, after).allSatisfy { abs($0 - $1) <= 0.001 }
    }
}

/// A profile as a way to the linear light of sRGB.
private final class LightProfile {
    private let color: OpaquePointer

    /// Nil if the profile cannot be read.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    init?(_ data: Data, _ model: ColorModel) throws {
        var isShort = false
        let color = data.withUnsafeBytes { bytes in
            halcyon_color_create_to_light(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, model.code, &isShort)
        }
        guard !isShort else { throw BitmapError.outOfMemory(bytes: 0) }
        guard let color else { return nil }
        self.color = color
    }

    deinit { halcyon_color_free(color) }

    /// Valid while the object lives.
    var kernel: halcyon_to_light {
        halcyon_to_light(
            convert: { color, rgba, count in
                halcyon_color_convert_to_light(color.map { OpaquePointer($0) }, rgba, count)
            }, context: UnsafeMutableRawPointer(color))
    }
}

extension DeepBitmap {
    /// Returns the pixels in another format; itself if it has that already.
    ///
    /// Light is converted as the named spaces define it: the white of sRGB is at 203 cd/m2, and HLG is taken as a display of 1,000
    /// cd/m2 shows it. What the format cannot hold is clipped. Cost: 10 to 130 ns a pixel, most to PQ, and the result.
    ///
    /// - Throws: `BitmapError.outOfMemory`; `CancellationError`.
    public func converted(to format: Format, context: WorkContext = .uncancellable) throws -> DeepBitmap {
        guard format != self.format else { return self }
        let (primaries, curve) = self.format.colorSpace.description
        let source = DeepPixels(
            channels: self.format.channels, profile: .primaries(primaries, curve), isMultiplied: true)
        let conversion = try DeepConversion(from: source, to: format, isOpaque: isOpaque)
        return try DeepBitmap(size: size, format: format, isOpaque: isOpaque) { words in
            withPixels { words.copyMemory(from: $0) }
            try conversion.convert(words, context: context)
        }
    }

    /// Returns the light of the brightest pixel and the mean light in cd/m2 (MaxCLL and MaxFALL of CTA-861.3), of colours as files have
    /// them, which are not multiplied by their alpha; nil for a space other than PQ.
    package func contentLight() -> (most: Double, mean: Double)? {
        guard format.colorSpace == .bt2020PQ else { return nil }
        var (most, mean) = (0.0, 0.0)
        withPixels {
            halcyon_deep_content_light(
                $0.baseAddress?.assumingMemoryBound(to: UInt16.self), format.channels.kernel,
                format.colorSpace.transfer, width * height, &most, &mean)
        }
        return (most * ToneMapping.white, mean * ToneMapping.white)
    }

    /// Creates pixels of 16 bits from those of 8 whose colours a profile describes, sRGB if it is nil: each value times 257, before
    /// it is converted.
    convenience init(
        widening bitmap: Bitmap, profile: ColorProfile?, format: Format, context: WorkContext
    ) throws {
        try self.init(size: bitmap.size, format: format, isOpaque: bitmap.isOpaque) { words in
            try bitmap.widen(into: words, profile: profile, format: format, context: context)
        }
    }

    /// Returns the pixels in sRGB of 8 bits, rounded to the nearest. PQ and HLG are mapped to it as those of a file are.
    ///
    /// - Throws: `BitmapError.outOfMemory`; `CancellationError`.
    func narrowed(context: WorkContext) throws -> Bitmap {
        if format.colorSpace.isBright {
            let (primaries, curve) = format.colorSpace.description
            let profile = ColorProfile.primaries(primaries, curve, peak: contentLight()?.most)
            let pixels = DeepPixels(channels: format.channels, profile: profile, isMultiplied: true)
            return try withPixels {
                try pixels.narrowed(
                    $0, size: size, isOpaque: isOpaque,
                    by: try ColorTransforms.shared.transform(for: profile, isDeep: true), context: context)
            }
        }
        let sRGB = try converted(to: Format(), context: context)
        return try Bitmap(size: size, isOpaque: isOpaque) { pixels in
            sRGB.withPixels { words in
                halcyon_deep_narrow(
                    words.baseAddress?.assumingMemoryBound(to: UInt16.self),
                    pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count / 4)
            }
        }
    }
}

extension DeepPixels {
    /// Returns such pixels in sRGB of 8 bits, multiplied by their alpha: their colours are converted before they are rounded.
    ///
    /// - Parameter transform: the conversion to sRGB; nil for colours that are of it.
    /// - Throws: `BitmapError.outOfMemory`; `CancellationError`.
    func narrowed(
        _ words: UnsafeRawBufferPointer, size: PixelSize, isOpaque: Bool, by transform: ColorTransform?,
        context: WorkContext
    ) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: isOpaque) { bytes in
            guard let source = words.baseAddress?.assumingMemoryBound(to: UInt16.self),
                let target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            else { return }
            let (width, deep) = (size.width, transform?.deep)
            let isStraight = channels == .uint16 && (!isMultiplied || isOpaque)
            var row = [UInt16](repeating: 0, count: isStraight ? 0 : width * 4)
            try withExtendedLifetime(transform) {
                for y in 0..<size.height {
                    if y % 64 == 0 { try context.checkCancellation() }
                    let (from, to) = (source + y * width * 4, target + y * width * 4)
                    row.withUnsafeMutableBufferPointer { row in
                        var straight = from
                        if !isStraight, let place = row.baseAddress {
                            halcyon_deep_straighten(from, channels.kernel, isMultiplied, place, width)
                            straight = UnsafePointer(place)
                        }
                        if let deep, let convert = deep.convert {
                            convert(deep.context, straight, to, width)
                        } else {
                            halcyon_deep_narrow(straight, to, width)
                        }
                    }
                    if !isOpaque { halcyon_premultiply(to, width) }
                }
            }
        }
    }
}

extension Bitmap {
    /// Writes the pixels as `DeepBitmap.init(widening:profile:format:context:)` makes them.
    func widen(
        into words: UnsafeMutableRawBufferPointer, profile: ColorProfile?, format: DeepBitmap.Format,
        context: WorkContext
    ) throws {
        let source = DeepPixels(channels: .uint16, profile: profile, isMultiplied: true)
        let conversion = try DeepConversion(from: source, to: format, isOpaque: isOpaque)
        withPixels { pixels in
            halcyon_deep_widen(
                pixels.baseAddress?.assumingMemoryBound(to: UInt8.self),
                words.baseAddress?.assumingMemoryBound(to: UInt16.self), pixels.count / 4)
        }
        try conversion.convert(words, context: context)
    }
}

extension Image {
    /// Creates an image of a program's own pixels of 16 bits a channel; `info.format` is `.bitmap`.
    ///
    /// Its `bitmap` has the same pixels in sRGB, rounded to 8 bits: those of PQ and HLG by the tone mapping of files, others clipped. Cost:
    /// some 50 ns a pixel.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    public init(_ deepBitmap: DeepBitmap) throws {
        let info = ImageInfo(
            format: .bitmap, size: deepBitmap.size, hasAlpha: !deepBitmap.isOpaque, bitsPerChannel: 16)
        let bitmap = try deepBitmap.narrowed(context: .uncancellable)
        self.init(bitmap: bitmap, info: info)
        self.deepBitmap = deepBitmap
    }
}
