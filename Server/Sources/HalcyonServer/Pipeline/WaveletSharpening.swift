import Foundation
import Halcyon

/// thumbor's `sharpen`: the picture is split into five bands of detail and the rest (the à trous transform with the kernel 1, 2, 1 whose
/// taps are 1, 2, 4, 8 and 16 pixels apart; edges are mirrored), and the bands around the radius get stronger.
///
/// The factor of band n, the finest being 0, is 1 + amount * e^(-(n - radius)² / 1.5). With `luminanceOnly` each pixel is raised by as much
/// as that raises its luminance (ITU-R BT.601), so that no colour changes. Alpha stays. Cost: about that of three blurs.
struct WaveletSharpening: ImageProcessor {
    let amount: Double
    let radius: Double
    let luminanceOnly: Bool
    /// The values of a plane that are worked on at a time, but for 128 rows at least and those around: the memory for large pictures
    /// stays small. Without effect on the result.
    var bandArea = 1 << 20

    private static let levels = 5
    /// The rows on either side that a row depends on.
    private static let margin = (1 << levels) - 1

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.wavelet", version: 1)
        key.encode(amount)
        key.encode(radius)
        key.encode(luminanceOnly)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let bitmap = image.bitmap
        let gains = (0..<Self.levels).map { level in
            Float(1 + amount * exp(-pow(Double(level) - radius, 2) / 1.5))
        }
        let height = max(128, bandArea / max(1, bitmap.width))
        let result = try Bitmap(size: image.size, isOpaque: bitmap.isOpaque) { output in
            try bitmap.withPixels { pixels in
                for start in stride(from: 0, to: bitmap.height, by: height) {
                    let rows = start..<min(bitmap.height, start + height)
                    let band = Band(pixels, bitmap, rows: rows, margin: Self.margin)
                    for channel in luminanceOnly ? [nil] : [0, 1, 2] {
                        try context.checkCancellation()
                        var plane = band.plane(channel)
                        plane.amplify(gains)
                        band.write(plane, channel, to: output)
                    }
                }
            }
        }
        return image.replacing(result)
    }
}

extension WaveletSharpening {
    /// Rows of a picture, with those around that they depend on.
    private struct Band {
        private let pixels: UnsafeRawBufferPointer
        private let width: Int
        private let bytesPerRow: Int
        private let rows: Range<Int>
        private let all: Range<Int>

        init(_ pixels: UnsafeRawBufferPointer, _ bitmap: Bitmap, rows: Range<Int>, margin: Int) {
            (self.pixels, self.rows, width, bytesPerRow) = (pixels, rows, bitmap.width, bitmap.bytesPerRow)
            all = max(0, rows.lowerBound - margin)..<min(bitmap.height, rows.upperBound + margin)
        }

        /// Returns the values of blue, green or red, or those of the luminance, not multiplied with alpha.
        func plane(_ channel: Int?) -> WaveletPlane {
            var plane = WaveletPlane(width: width, height: all.count)
            var index = 0
            for row in all {
                for pixel in stride(from: row * bytesPerRow, to: row * bytesPerRow + width * 4, by: 4) {
                    plane.values[index] = value(channel, pixel)
                    index += 1
                }
            }
            return plane
        }

        private func value(_ channel: Int?, _ pixel: Int) -> Float {
            let alpha = pixels[pixel + 3]
            guard alpha > 0 else { return 0 }
            let value =
                if let channel {
                    Float(pixels[pixel + channel])
                } else {
                    0.114 * Float(pixels[pixel]) + 0.587 * Float(pixels[pixel + 1]) + 0.299 * Float(pixels[pixel + 2])
                }
            return alpha == 255 ? value : min(255, value * 255 / Float(alpha))
        }

        /// Writes a channel, or what the luminance raises all of them by.
        func write(_ plane: WaveletPlane, _ channel: Int?, to output: UnsafeMutableRawBufferPointer) {
            for row in rows {
                for x in 0..<width {
                    let (source, target) = (row * bytesPerRow + x * 4, (row * width + x) * 4)
                    let (alpha, found) = (
                        Float(pixels[source + 3]) / 255, plane.values[(row - all.lowerBound) * width + x]
                    )
                    output[target + 3] = pixels[source + 3]
                    if let channel {
                        output[target + channel] = Self.byte(found * alpha, limit: alpha)
                        continue
                    }
                    let raise = (found - value(nil, source)) * alpha
                    for channel in 0..<3 {
                        output[target + channel] = Self.byte(Float(pixels[source + channel]) + raise, limit: alpha)
                    }
                }
            }
        }

        /// Colours are multiplied with alpha, which is their limit.
        private static func byte(_ value: Float, limit: Float) -> UInt8 {
            UInt8(min(max(value, 0), limit * 255).rounded())
        }
    }
}

/// Values whose bands of detail are made stronger.
private struct WaveletPlane {
    private let width: Int
    private let height: Int
    var values: [Float]
    private var scratch: [Float]
    private var details: [Float]

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        values = Array(repeating: 0, count: width * height)
        (scratch, details) = (values, values)
    }

    /// Multiplies each band of detail, the finest first, with its factor.
    mutating func amplify(_ gains: [Float]) {
        for (level, gain) in gains.enumerated() {
            smoothAcross(1 << level)
            smoothDown(1 << level, gain)
        }
        for index in values.indices { values[index] += details[index] }
    }

    private mutating func smoothAcross(_ distance: Int) {
        let width = width
        let neighbours = (0..<width).map {
            (Self.mirrored($0 - distance, width), Self.mirrored($0 + distance, width))
        }
        values.withUnsafeBufferPointer { values in
            scratch.withUnsafeMutableBufferPointer { scratch in
                for row in stride(from: 0, to: values.count, by: width) {
                    for x in 0..<width {
                        let (left, right) = neighbours[x]
                        scratch[row + x] = 0.25 * (2 * values[row + x] + values[row + left] + values[row + right])
                    }
                }
            }
        }
    }

    /// Leaves what is smooth in `values`.
    private mutating func smoothDown(_ distance: Int, _ gain: Float) {
        let (width, height) = (width, height)
        values.withUnsafeMutableBufferPointer { values in
            scratch.withUnsafeBufferPointer { scratch in
                details.withUnsafeMutableBufferPointer { details in
                    for y in 0..<height {
                        let above = Self.mirrored(y - distance, height) * width
                        let below = Self.mirrored(y + distance, height) * width
                        for x in 0..<width {
                            let index = y * width + x
                            let smooth = 0.25 * (2 * scratch[index] + scratch[above + x] + scratch[below + x])
                            details[index] += gain * (values[index] - smooth)
                            values[index] = smooth
                        }
                    }
                }
            }
        }
    }

    /// The place inside that a place outside shows: the edges themselves are not repeated.
    private static func mirrored(_ place: Int, _ count: Int) -> Int {
        guard count > 1 else { return 0 }
        let period = 2 * (count - 1)
        let distance = abs(place) % period
        return min(distance, period - distance)
    }
}
