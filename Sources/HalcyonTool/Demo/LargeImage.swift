import Foundation
import Halcyon

/// The gallery's largest picture, which is too large for the repository: it is drawn and encoded at the first run.
enum LargeImage {
    static let fileName = "high-peaks-13-megapixels.jpg"
    static let title = "High peaks"
    private static let size = PixelSize(4400, 3000)

    /// Makes the file unless it exists.
    static func make(in folder: URL, coders: CoderRegistry) throws {
        let file = folder.appending(path: fileName)
        guard !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let bitmap = try Bitmap(size: size, isOpaque: true) { output in
            let ranges = (0..<6).map(Range.init)
            for x in 0..<size.width {
                let tops = ranges.map { $0.top(at: Double(x)) }
                for y in 0..<size.height { paint(x, y, tops: tops, output) }
            }
        }
        let image = Image(bitmap: bitmap, info: ImageInfo(format: .jpeg, size: size))
        try coders.encode(image, as: .jpeg, options: EncodeOptions()).write(to: file, options: .atomic)
    }

    /// A mountain ridge: a sum of waves, rougher the nearer it is.
    private struct Range {
        let depth: Double
        private let waves: [(length: Double, height: Double, phase: Double)]

        init(_ index: Int) {
            depth = Double(index) / 5
            waves = (0..<9).map { octave in
                let shrink = pow(0.52, Double(octave))
                return (1900 * shrink, 330 * shrink * (0.55 + 0.5 * Double(index) / 5), Double(index * 7 + octave * 13))
            }
        }

        func top(at x: Double) -> Double {
            let relief = waves.reduce(0.0) { sum, wave in
                sum + wave.height * (1 - 2 * abs(sin(x / wave.length + wave.phase)))
            }
            return 1150 + depth * 1350 - relief * 0.8
        }
    }

    private static func paint(_ x: Int, _ y: Int, tops: [Double], _ output: UnsafeMutableRawBufferPointer) {
        let height = Double(y) / Double(size.height)
        // The sky at dusk: from deep blue above to apricot at the horizon, with the sun's glow to the right.
        let glow = exp(-(pow((Double(x) - 3100) / 900, 2) + pow((Double(y) - 1150) / 520, 2)))
        var color = mix((38, 52, 98), (246, 186, 140), min(1, height * 2.1))
        color = mix(color, (255, 236, 190), glow * 0.85)
        for (index, top) in tops.enumerated() where Double(y) > top {
            let depth = Double(index) / 5
            let snow = index > 2 && Double(y) - top < 90 * (1 - depth) + 26 ? 0.35 : 0
            let haze = min(1, (Double(y) - top) / 900)
            let near = mix((120, 118, 152), (16, 26, 38), depth)
            color = mix(mix(near, (214, 190, 182), haze * 0.55 * (1 - depth)), (236, 230, 238), snow)
        }
        let offset = (y * size.width + x) * 4
        output[offset] = UInt8(color.2)
        output[offset + 1] = UInt8(color.1)
        output[offset + 2] = UInt8(color.0)
        output[offset + 3] = 255
    }

    private typealias Color = (Double, Double, Double)

    private static func mix(_ from: Color, _ to: Color, _ share: Double) -> Color {
        let share = min(max(share, 0), 1)
        return (
            from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share, from.2 + (to.2 - from.2) * share
        )
    }
}
