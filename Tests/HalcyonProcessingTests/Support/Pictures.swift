import Foundation
import HalcyonImage

/// Pictures of different kinds.
enum Picture: String, CaseIterable {
    case noise, checkerboard, smooth

    func image(_ width: Int, _ height: Int) throws -> Image {
        switch self {
        case .noise: return try HalcyonProcessingTests.noise(width, height, hasAlpha: false)
        case .checkerboard: return try picture(width, height) { ($0 / 5 + $1 / 5) % 2 == 0 ? .white : .black }
        case .smooth:
            // As a photograph: light and dark, large and small, and one edge.
            return try picture(width, height) { x, y in
                let (x, y) = (Double(x), Double(y))
                let edge = x > 0.7 * Double(width) ? 0.25 : 0
                return Color(
                    red: 0.5 + 0.25 * sin(x / 7) + 0.2 * cos(y / 5) - edge, green: 0.4 + 0.3 * sin((x + y) / 11) + edge,
                    blue: 0.5 + 0.4 * cos(x / 13 - y / 9))
            }
        }
    }
}

/// A picture of a colour for each place.
func picture(_ width: Int, _ height: Int, isOpaque: Bool = true, _ color: (_ x: Int, _ y: Int) -> Color) throws -> Image
{
    let plain = PlainImage(PixelSize(width, height)) { color($0, $1).plain }
    return try image(width, height, isOpaque: isOpaque, plain.values.map { UInt8(min(max($0, 0), 255).rounded()) })
}

/// A disc of one colour in the middle of nothing, with an edge that is `softness` pixels wide.
func disc(_ side: Int, _ color: Color = .white, softness: Double = 1) throws -> Image {
    try picture(side, side, isOpaque: false) { x, y in
        let middle = Double(side) / 2
        let distance = hypot(Double(x) + 0.5 - middle, Double(y) + 0.5 - middle)
        var color = color
        color.alpha *= min(max((middle * 0.6 - distance) / softness + 0.5, 0), 1)
        return color
    }
}

/// How far pixels are from one colour, however much of it there is: edges should have no fringe.
func fringe(_ image: Image, _ color: Color) -> Double {
    let pixel = Color(red: color.red, green: color.green, blue: color.blue).plain
    let bytes = image.bytes
    var worst = 0.0
    for start in stride(from: 0, to: bytes.count, by: 4) {
        for channel in 0..<3 {
            let expected = Double(bytes[start + 3]) * pixel[channel] / 255
            worst = max(worst, abs(Double(bytes[start + channel]) - expected))
        }
    }
    return worst
}
