import HalcyonImage
import HalcyonProcessing
import Testing

/// A processor and the same with one parameter changed at a time.
struct ProcessorFamily: CustomTestStringConvertible, Sendable {
    let name: String
    let base: any ImageProcessor
    let variants: [any ImageProcessor]
    /// The least number of cancellation checks for an image of 256 x 600 pixels; 0 where there is nothing to do for it.
    let questions: Int

    init(_ name: String, _ base: any ImageProcessor, questions: Int = 600 / 16, _ variants: [any ImageProcessor]) {
        (self.name, self.base, self.questions, self.variants) = (name, base, questions, variants)
    }

    var testDescription: String { name }
    var all: [any ImageProcessor] { [base] + variants }
}

/// Every processor that Halcyon brings, with every parameter.
enum AllProcessors {
    static func families() throws -> [ProcessorFamily] {
        geometry + ground + shapes + filters + colors + layers + (try composition())
    }

    /// Whether a processor leaves nothing of an opaque image.
    static func isBlank(_ processor: any ImageProcessor) -> Bool {
        switch processor {
        case let processor as OpacityProcessor: processor.opacity == 0
        // The ground of those below is translucent, and the colour that is drawn as well.
        case let processor as BlendProcessor: [.clear, .destinationOut].contains(processor.mode)
        case let processor as TintProcessor: [.clear, .sourceOut].contains(processor.mode)
        default: false
        }
    }

    private static var geometry: [ProcessorFamily] {
        let (size, rect) = (PixelSize(20, 9), PixelRect(x: 0, y: 0, width: 7, height: 5))
        return [
            ProcessorFamily(
                "resize", .resize(to: size),
                [
                    .resize(to: PixelSize(19, 9)), .resize(to: PixelSize(20, 8)), .resize(to: size, mode: .fill),
                    .resize(to: size, mode: .stretch), .resize(to: size, upscale: true),
                    .resize(to: size, filter: .nearest), .resize(to: size, filter: .area),
                    .resize(to: size, filter: .bilinear), .resize(to: size, light: .linear),
                ]),
            ProcessorFamily(
                "crop to a rectangle", .crop(rect), questions: 1,
                [
                    .crop(PixelRect(x: -1, y: 0, width: 7, height: 5)),
                    .crop(PixelRect(x: 0, y: -2, width: 7, height: 5)),
                    .crop(PixelRect(x: 0, y: 0, width: 8, height: 5)),
                    .crop(PixelRect(x: 0, y: 0, width: 7, height: 4)),
                ]),
            ProcessorFamily(
                "crop to a size", .crop(to: rect.size), questions: 1,
                [
                    .crop(to: PixelSize(8, 5)), .crop(to: PixelSize(7, 6)), .crop(to: rect.size, anchorX: 0.25),
                    .crop(to: rect.size, anchorY: 1),
                ]),
            ProcessorFamily(
                "crop by saliency", .smartCrop(to: rect.size), questions: 1,
                [.smartCrop(to: PixelSize(8, 5)), .smartCrop(to: PixelSize(7, 6)), .smartCrop(ratio: PixelSize(7, 5))]),
            ProcessorFamily("flip", .flip(.horizontal), questions: 1, [.flip(.vertical)]),
            ProcessorFamily(
                "rotate", .rotate(degrees: 30), questions: 600 / 64,
                [
                    .rotate(degrees: -30), .rotate(degrees: 90), .rotate(degrees: 180), .rotate(degrees: 270),
                    .rotate(degrees: 30.0.nextUp), .rotate(degrees: 30, fitsSize: false),
                    .rotate(degrees: 30, background: .white),
                    .rotate(degrees: 30, background: Color(red: 1, green: 0, blue: 0, alpha: 0.5)),
                ]),
        ]
    }

    private static var ground: [ProcessorFamily] {
        func insets(_ top: Int, _ left: Int, _ bottom: Int, _ right: Int) -> PadProcessor.Amount {
            .insets(top: top, left: left, bottom: bottom, right: right)
        }
        let size = PixelSize(50, 40)
        return [
            ProcessorFamily(
                "pad by insets", PadProcessor(insets(1, 2, 3, 4)),
                [
                    PadProcessor(insets(0, 2, 3, 4)), PadProcessor(insets(1, 0, 3, 4)),
                    PadProcessor(insets(1, 2, 0, 4)), PadProcessor(insets(1, 2, 3, 0)),
                ] + grounds.map { PadProcessor(insets(1, 2, 3, 4), background: $0) }),
            ProcessorFamily(
                "pad to a size", .pad(to: size), questions: 0,
                [
                    .pad(to: PixelSize(51, 40)), .pad(to: PixelSize(50, 41)), .pad(to: size, anchorX: 0),
                    .pad(to: size, anchorY: 0.25),
                ] + grounds.map { PadProcessor(.size(size, x: 0.5, y: 0.5), background: $0) }),
        ]
    }

    /// Each differs from clear, the default, and from the others.
    static let grounds = [
        Color.black, .white, Color(red: 1, green: 0, blue: 0, alpha: 0.5), Color(red: 0, green: 1, blue: 0, alpha: 0.5),
        Color(red: 0, green: 0, blue: 1, alpha: 0.5), Color(white: 0, alpha: 0.5),
    ]

    private static let borders = [
        ImageBorder(), ImageBorder(width: 3), ImageBorder(width: 2.5), ImageBorder(color: .white),
        ImageBorder(color: Color(white: 0.5, alpha: 0.5)),
        ImageBorder(width: 1000),
    ]

    private static let radii: [CornerRadius] = [
        .pixels(5), .pixels(0.5), .pixels(1000), .widthFraction(6), .widthFraction(0.2), .heightFraction(6),
        .heightFraction(0.2),
    ]

    private static var shapes: [ProcessorFamily] {
        let round: [any ImageProcessor] =
            radii.map { .roundCorners($0) }
            + (1..<15).map { .roundCorners(.pixels(6), corners: RectCorner(rawValue: $0)) }
            + grounds.map { .roundCorners(.pixels(6), background: $0) }
            + borders.map { .roundCorners(.pixels(6), border: $0) }
            + [PixelSize(20, 10), PixelSize(21, 10), PixelSize(20, 11)].map {
                .roundCorners(.pixels(6), targetSize: $0)
            }
        let frames: [any ImageProcessor] =
            borders.dropFirst().map { BorderProcessor($0, radius: .pixels(6)) }
            + radii.map { BorderProcessor(radius: $0) }
            + [.topLeft, .bottomRight].map { BorderProcessor(radius: .pixels(6), corners: $0) }
        return [
            ProcessorFamily("round corners", .roundCorners(.pixels(6)), round),
            ProcessorFamily(
                "circle", .circle(), questions: 256 / 16,
                borders.map { .circle(border: $0) } + grounds.map { .circle(background: $0) }),
            ProcessorFamily("border", BorderProcessor(radius: .pixels(6)), frames),
        ]
    }

    private static var filters: [ProcessorFamily] {
        [
            ProcessorFamily("blur", .blur(radius: 2), [.blur(radius: 0.3), .blur(radius: 2.5), .blur(radius: 40)]),
            ProcessorFamily(
                "sharpen", .sharpen(), [.sharpen(amount: 0.6), .sharpen(amount: 100), .sharpen(radius: 3)]),
            ProcessorFamily("pixelate", .pixelate(side: 3), [.pixelate(side: 4), .pixelate(side: 100)]),
        ]
    }
}
