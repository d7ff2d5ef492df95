import Foundation
import HalcyonImage

extension BlurHash {
    /// The longest side of an image that ``image(_:punch:)`` draws, in pixels.
    public static let maximumSide = 4096

    /// Draws the blurred image, opaque, with the `info` of a bitmap that a program made.
    ///
    /// Draw it small and let the view enlarge it. Cost: 32 by 32 pixels of 4 by 3 components take some 20
    /// microseconds; the time is linear in the number of pixels times `componentsX`. Memory besides the result: 4
    /// bytes for each pixel of a row and of a column, times the number of components.
    ///
    /// - Parameters:
    ///   - size: The size in pixels, 32 by 32 by default. The text does not hold the aspect ratio of its image.
    ///   - punch: The contrast, as a factor of every wave: 1 by default, 0 leaves only the average colour, a negative
    ///     value turns light to dark.
    /// - Throws: `BlurHashError.invalidSize` if a side is outside 1...4,096, `.invalidPunch`;
    ///   `BitmapError.outOfMemory`.
    public func image(_ size: PixelSize = PixelSize(32, 32), punch: Double = 1) throws -> Image {
        let sides = 1...Self.maximumSide
        guard sides.contains(size.width), sides.contains(size.height) else { throw BlurHashError.invalidSize(size) }
        guard punch.isFinite else { throw BlurHashError.invalidPunch(punch) }
        let bitmap = try Bitmap(size: size, isOpaque: true) { output in
            draw(into: output, size, components(punch))
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .bitmap, size: size))
    }

    /// Returns the blue, green and red light of each component, row by row; the fourth lane is zero.
    private func components(_ punch: Double) -> [SIMD4<Float>] {
        let light = [0, 8, 16].map { Float(LinearLight.ofByte[(average >> $0) & 255]) }
        // A larger factor would look the same, and sums of larger values could overflow to infinity.
        let maximum = Double(strength + 1) / 166 * min(max(punch, -1e6), 1e6)
        let waves = (1..<componentsX * componentsY).map { index in
            let value = wave(index)
            func amount(_ steps: Int) -> Float {
                let part = Double(steps % 19 - 9) / 9
                return Float(part * abs(part) * maximum)
            }
            return SIMD4(amount(value), amount(value / 19), amount(value / 361), 0)
        }
        return [SIMD4(light[0], light[1], light[2], 0)] + waves
    }

    /// Draws the pixels: each is the sum of `component(i, j) * cos(pi * i * x / width) * cos(pi * j * y / height)`.
    /// The sum over `j` is the same for a whole row.
    private func draw(into output: UnsafeMutableRawBufferPointer, _ size: PixelSize, _ components: [SIMD4<Float>]) {
        let columns = Self.cosines(componentsX, size.width)
        let rows = Self.cosines(componentsY, size.height)
        let (thresholds, guesses) = (LinearLight.thresholds, LinearLight.guesses)
        func byte(_ light: Float) -> UInt32 {
            let guess = Int(guesses[Int(light * LinearLight.parts)])
            return UInt32(light >= thresholds[guess + 1] ? guess + 1 : guess)
        }
        var line = [SIMD4<Float>](repeating: .zero, count: componentsX)
        var offset = 0
        for y in 0..<size.height {
            for i in 0..<componentsX {
                line[i] = .zero
                for j in 0..<componentsY { line[i] += components[j * componentsX + i] * rows[y * componentsY + j] }
            }
            for x in 0..<size.width {
                var light = SIMD4<Float>.zero
                for i in 0..<componentsX { light += line[i] * columns[x * componentsX + i] }
                light.clamp(lowerBound: .zero, upperBound: .one)
                let pixel = byte(light[0]) | byte(light[1]) << 8 | byte(light[2]) << 16 | 0xFF00_0000
                output.storeBytes(of: pixel.littleEndian, toByteOffset: offset, as: UInt32.self)
                offset += 4
            }
        }
    }

    /// Returns the cosines of every component at each of `count` places; the components of one place are adjacent.
    private static func cosines(_ components: Int, _ count: Int) -> [Float] {
        var cosines: [Float] = []
        cosines.reserveCapacity(components * count)
        for place in 0..<count {
            for component in 0..<components {
                cosines.append(Float(cos(.pi * Double(component * place) / Double(count))))
            }
        }
        return cosines
    }
}

/// Conversions between sRGB bytes and amounts of light from 0 to 1, by the curve of IEC 61966-2-1.
enum LinearLight {
    /// The amount of light of each byte.
    static let ofByte: [Double] = (0...255).map { light(Double($0)) }

    /// The least amount of light that is rounded to each byte, and a final infinite sentinel.
    static let thresholds: [Float] = (0...255).map { $0 == 0 ? 0 : Float(light(Double($0) - 0.5)) } + [.infinity]

    /// The number of parts that `guesses` divides the light into. In darkness, where the curve is steepest, a part is
    /// 0.8 bytes wide: the right byte is at most 1 above the byte at the part's beginning.
    static let parts: Float = 4096

    /// The byte at the beginning of each part, and the byte of full light.
    static let guesses: [UInt8] = {
        var byte = 0
        return (0...Int(parts)).map { part in
            while thresholds[byte + 1] <= Float(part) / parts { byte += 1 }
            return UInt8(byte)
        }
    }()

    /// Returns the nearest byte to an amount of light, which is clamped to 0...1.
    static func byte(_ light: Double) -> Int {
        let light = min(max(light, 0), 1)
        let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(value * 255 + 0.5)
    }

    private static func light(_ byte: Double) -> Double {
        let value = byte / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
