import Halcyon
import HalcyonProcessing
import TestSupport

/// Random processors with so few values each that two are often equal.
struct RandomProcessors {
    private var random: SplitMix

    init(seed: UInt64) {
        random = SplitMix(state: seed)
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func number() -> Double { [0, -0.0, 0.5, 1][below(4)] }

    private mutating func color() -> Color {
        [.clear, .black, Color(red: 1, green: 0.5, blue: 0, alpha: 0.5)][below(3)]
    }

    private mutating func size() -> PixelSize { PixelSize(1 + below(3) * 3, 1 + below(2) * 4) }

    /// Up to four.
    mutating func list() -> [any ImageProcessor] { (0..<below(5)).map { _ in one() } }

    private mutating func one() -> any ImageProcessor {
        switch below(4) {
        case 0: geometric()
        case 1: shape()
        case 2: colored()
        default: filtered()
        }
    }

    private mutating func geometric() -> any ImageProcessor {
        switch below(6) {
        case 0:
            .resize(
                to: size(), mode: ResizeMode.allCases[below(3)], upscale: below(2) == 0,
                filter: ResizeFilter.allCases[below(4)])
        case 1: .crop(to: size(), anchorX: number(), anchorY: number())
        case 2: .crop(PixelRect(x: below(3) - 1, y: below(2), width: 1 + below(4), height: 1 + below(4)))
        case 3: .flip(FlipProcessor.Axis.allCases[below(2)])
        case 4: .rotate(degrees: [0, 90, -270, 45, 360][below(5)], fitsSize: below(2) == 0, background: color())
        default: .pad(below(3), background: color())
        }
    }

    private mutating func shape() -> any ImageProcessor {
        let radius = [CornerRadius.pixels(number()), .widthFraction(number()), .heightFraction(number())][below(3)]
        return switch below(3) {
        case 0:
            .roundCorners(
                radius, corners: below(2) == 0 ? .all : .topLeft, background: color(),
                border: below(2) == 0 ? nil : ImageBorder(width: number(), color: color()),
                targetSize: below(3) == 0 ? size() : nil)
        case 1: .circle(border: below(2) == 0 ? nil : ImageBorder(width: number()), background: color())
        default: .border(width: number(), color: color(), radius: radius)
        }
    }

    private mutating func colored() -> any ImageProcessor {
        switch below(8) {
        case 0: .invert
        case 1: .blackWhite
        case 2: .colorControls(brightness: number(), contrast: number(), saturation: number(), exposure: number())
        case 3: .overlay(color(), fraction: number())
        case 4: .tint(color(), mode: BlendMode.allCases[below(29)])
        case 5: .blend(BlendMode.allCases[below(29)], alpha: number(), background: color())
        case 6: .opacity(number())
        default: .sepia(intensity: number())
        }
    }

    private mutating func filtered() -> any ImageProcessor {
        switch below(3) {
        case 0: .blur(radius: number())
        case 1: .sharpen(amount: number(), radius: number())
        default: .pixelate(side: 1 + below(3))
        }
    }
}
