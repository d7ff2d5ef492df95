import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import Testing

/// Scaling, cutting and turning pixels of 16 bits a channel, against the same with real numbers.
@Suite struct DeepGeometryTests {
    private struct Case: CustomTestStringConvertible {
        let from: PixelSize
        let to: PixelSize
        let filter: ResizeFilter
        let light: ResizeLight
        let hasAlpha: Bool

        var testDescription: String { "\(from) to \(to), \(filter), \(light), alpha \(hasAlpha)" }

        static let all: [Case] = {
            let sizes = [
                (PixelSize(40, 30), PixelSize(17, 11)), (PixelSize(9, 7), PixelSize(31, 40)),
                (PixelSize(300, 5), PixelSize(2, 5)), (PixelSize(4, 260), PixelSize(4, 2)),
            ]
            return sizes.flatMap { from, to in
                [ResizeFilter.area, .bilinear, .lanczos, .nearest].flatMap { filter in
                    [ResizeLight.encoded, .linear].flatMap { light in
                        [false, true].map { Case(from: from, to: to, filter: filter, light: light, hasAlpha: $0) }
                    }
                }
            }
        }()
    }

    @Test(arguments: Case.all)
    private func integersAreWithinOneOfRealNumbers(_ test: Case) throws {
        let deep = try DeepBitmap.sample(test.from, hasAlpha: test.hasAlpha)
        let geometry = ResizeGeometry(source: test.from, box: test.to, mode: .stretch, upscale: true)
        let scaled = try deep.resampled(nil, geometry, filter: test.filter, light: test.light)
        let expected = reference(deep, test)
        let difference = try #require(largestDifference(scaled.values, expected)) * 65535
        #expect(difference <= (test.light == .linear ? 2 : 1))
    }

    @Test(arguments: Case.all)
    private func halfsAreWithinAStepOfRealNumbers(_ test: Case) throws {
        let deep = try DeepBitmap.sample(test.from, format: .init(.float16), hasAlpha: test.hasAlpha)
        let geometry = ResizeGeometry(source: test.from, box: test.to, mode: .stretch, upscale: true)
        let scaled = try deep.resampled(nil, geometry, filter: test.filter, light: test.light)
        let difference = try #require(largestDifference(scaled.values, reference(deep, test)))
        // The step of numbers between 1 and 2, which the filter's lobes reach.
        #expect(difference <= 1 / 1024.0)
    }

    /// So many pixels that their light is looked up.
    @Test(arguments: DeepBitmap.Channels.allCases, [false, true])
    func manyPixelsAreWithinOneOfRealNumbers(_ channels: DeepBitmap.Channels, hasAlpha: Bool) throws {
        let test = Case(
            from: PixelSize(300, 240), to: PixelSize(12, 9), filter: .area, light: .linear, hasAlpha: hasAlpha)
        let deep = try DeepBitmap.sample(test.from, format: .init(channels), hasAlpha: hasAlpha)
        let geometry = ResizeGeometry(source: test.from, box: test.to, mode: .stretch, upscale: false)
        let scaled = try deep.resampled(nil, geometry, filter: test.filter, light: test.light)
        let difference = try #require(largestDifference(scaled.values, reference(deep, test)))
        #expect(difference <= (channels == .uint16 ? 2 / 65_535.0 : 1 / 1024.0))
    }

    @Test(arguments: [ResizeLight.encoded, .linear], NamedColorSpace.allCases)
    func aUniformAreaStays(_ light: ResizeLight, _ space: NamedColorSpace) throws {
        let size = PixelSize(50, 40)
        for value: UInt16 in [1, 257, 30_000, 65_535] {
            let words = (0..<size.width * size.height * 4).map { (index: Int) -> UInt16 in
                index % 4 == 3 ? 65_535 : value
            }
            let deep = try DeepBitmap(words: words, size: size, format: .init(colorSpace: space), isOpaque: true)
            let geometry = ResizeGeometry(source: size, box: PixelSize(13, 9), mode: .stretch, upscale: false)
            let scaled = try deep.resampled(nil, geometry, light: light).words
            let difference = try #require(largestDifference(scaled, Array(words.prefix(scaled.count))))
            #expect(difference <= (light == .linear ? 1 : 0))
        }
    }

    @Test(arguments: Orientation.allCases)
    func turnsExchangePlaces(_ orientation: Orientation) throws {
        let bitmap = try sampleBitmap(PixelSize(45, 37), hasAlpha: true)
        let deep = try widened(bitmap).oriented(nil, orientation)
        let turned = try bitmap.oriented(orientation)
        #expect(deep.words == (try widened(turned)).words)
    }

    @Test func aPartIsCut() throws {
        let bitmap = try sampleBitmap(PixelSize(45, 37), hasAlpha: true)
        let rect = PixelRect(x: 3, y: 5, width: 30, height: 11)
        #expect(try widened(bitmap).cropped(to: rect).words == (try widened(bitmap.cropped(to: rect))).words)
        #expect(throws: BitmapError.self) {
            try widened(bitmap).cropped(to: PixelRect(x: 30, y: 0, width: 20, height: 5))
        }
        let outside = ResizeGeometry(source: PixelSize(90, 90), box: PixelSize(5, 5), mode: .stretch, upscale: false)
        #expect(throws: BitmapError.self) { try widened(bitmap).resampled(nil, outside) }
    }

    @Test func aCancelledScalingEnds() throws {
        let deep = try DeepBitmap.sample(PixelSize(64, 64))
        let geometry = ResizeGeometry(source: deep.size, box: PixelSize(20, 20), mode: .stretch, upscale: false)
        #expect(throws: CancellationError.self) { try deep.resampled(nil, geometry, context: WorkContext { true }) }
        #expect(throws: CancellationError.self) { try deep.oriented(nil, .right, context: WorkContext { true }) }
    }

    private func widened(_ bitmap: Bitmap) throws -> DeepBitmap {
        let bytes = bitmap.bytes
        let words = stride(from: 0, to: bytes.count, by: 4).flatMap { (pixel: Int) -> [UInt16] in
            [2, 1, 0, 3].map { UInt16(bytes[pixel + $0]) * 257 }
        }
        return try DeepBitmap(words: words, size: bitmap.size, isOpaque: bitmap.isOpaque)
    }

    // MARK: - The reference

    private func reference(_ deep: DeepBitmap, _ test: Case) -> [Double] {
        let isLinear = test.light == .linear && test.filter != .nearest
        var values = deep.values
        if isLinear { mapColors(&values, decoded) }
        let across = weights(test.from.width, test.to.width, test.filter)
        let down = weights(test.from.height, test.to.height, test.filter)
        var rows = [Double](repeating: 0, count: test.from.height * test.to.width * 4)
        for y in 0..<test.from.height {
            for (x, taps) in across.enumerated() {
                for (source, weight) in taps {
                    for channel in 0..<4 {
                        rows[(y * test.to.width + x) * 4 + channel] +=
                            values[(y * test.from.width + source) * 4 + channel] * weight
                    }
                }
            }
        }
        var result = [Double](repeating: 0, count: test.to.height * test.to.width * 4)
        for (y, taps) in down.enumerated() {
            for (source, weight) in taps {
                for index in 0..<test.to.width * 4 {
                    result[y * test.to.width * 4 + index] += rows[source * test.to.width * 4 + index] * weight
                }
            }
        }
        limit(&result, isFloat: deep.format.channels == .float16, isLinear: isLinear)
        return result
    }

    /// Limits alpha to 0 to 1, and colours of integers to alpha.
    private func limit(_ values: inout [Double], isFloat: Bool, isLinear: Bool) {
        for pixel in stride(from: 0, to: values.count, by: 4) { values[pixel + 3] = min(max(values[pixel + 3], 0), 1) }
        if isLinear { mapColors(&values, encoded) }
        for pixel in stride(from: 0, to: values.count, by: 4) {
            let alpha = values[pixel + 3]
            for channel in pixel..<pixel + 3 {
                if alpha == 0 { values[channel] = 0 }
                if !isFloat { values[channel] = min(max(values[channel], 0), alpha) }
            }
        }
    }

    private func mapColors(_ values: inout [Double], _ map: (Double) -> Double) {
        for pixel in stride(from: 0, to: values.count, by: 4) {
            let alpha = values[pixel + 3]
            for channel in pixel..<pixel + 3 { values[channel] = alpha > 0 ? map(values[channel] / alpha) * alpha : 0 }
        }
    }

    private func decoded(_ value: Double) -> Double {
        let amount = abs(value)
        let light = amount <= 0.04045 ? amount / 12.92 : pow((amount + 0.055) / 1.055, 2.4)
        return value < 0 ? -light : light
    }

    private func encoded(_ light: Double) -> Double {
        let amount = abs(light)
        let value = amount <= 0.0031308 ? amount * 12.92 : 1.055 * pow(amount, 1 / 2.4) - 0.055
        return light < 0 ? -value : value
    }

    /// The source pixels of each result pixel, with their weights.
    private func weights(_ source: Int, _ result: Int, _ filter: ResizeFilter) -> [[(Int, Double)]] {
        let scale = Double(source) / Double(result)
        let stretch = max(scale, 1)
        return (0..<result).map { index in
            let centre = (Double(index) + 0.5) * scale
            if filter == .nearest { return [(min(source - 1, Int(centre)), 1)] }
            let taps = (0..<source).map { pixel -> (Int, Double) in
                let place = Double(pixel) + 0.5 - centre
                switch filter {
                case .area:
                    let overlap =
                        min(centre + stretch / 2, Double(pixel) + 1) - max(centre - stretch / 2, Double(pixel))
                    return (pixel, max(0, overlap))
                case .bilinear: return (pixel, max(0, 1 - abs(place / stretch)))
                default: return (pixel, lanczos(place / stretch))
                }
            }
            let sum = taps.reduce(0) { $0 + $1.1 }
            return taps.filter { $0.1 != 0 }.map { ($0.0, $0.1 / sum) }
        }
    }

    private func lanczos(_ x: Double) -> Double {
        guard abs(x) < 3 else { return 0 }
        guard x != 0 else { return 1 }
        return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
    }
}
