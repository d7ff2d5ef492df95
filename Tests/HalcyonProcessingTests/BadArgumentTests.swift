import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

/// Parameters that no image could be processed with: a descriptive error, before anything is fetched, and never a trap.
@Suite struct BadArgumentTests {
    private static let noNumbers: [Double] = [.nan, .signalingNaN, .infinity, -.infinity]
    private static let negative: [Double] = [-.leastNonzeroMagnitude, -1, -1e300, -.greatestFiniteMagnitude]
    private static let huge: [Double] = [1e9, 1e300, .greatestFiniteMagnitude, -1e9, -1e300, -.greatestFiniteMagnitude]
    private static let wholeNumbers = [Int.min, Int.min + 1, -1, 0, Int.max - 1, Int.max]

    /// A colour with one channel that is `value`.
    private static func colors(_ values: [Double]) -> [Color] {
        values.flatMap { value in
            [
                Color(red: value, green: 0, blue: 0), Color(red: 0, green: value, blue: 0),
                Color(red: 0, green: 0, blue: value), Color(white: 0, alpha: value),
            ]
        }
    }

    private static func radii(_ values: [Double]) -> [CornerRadius] {
        values.flatMap { [.pixels($0), .widthFraction($0), .heightFraction($0)] }
    }

    // MARK: - Refused

    private static func colored(_ color: Color) throws -> [any ImageProcessor] {
        [
            .rotate(degrees: 30, background: color), .rotate(degrees: 90, background: color),
            .pad(1, background: color), .pad(to: PixelSize(9, 9), background: color),
            .roundCorners(.pixels(0), background: color), .roundCorners(.pixels(2), border: ImageBorder(color: color)),
            .circle(background: color), .circle(border: ImageBorder(color: color)), .border(color: color),
            .overlay(color),
            .overlay(color, fraction: 1), .tint(color), .blend(background: color), .tint(color, mode: .destination),
        ]
    }

    private static func measured(_ value: Double) throws -> [any ImageProcessor] {
        [
            .blur(radius: value), .sharpen(amount: value), .sharpen(amount: 0, radius: value), .sharpen(radius: value),
            .sepia(intensity: value), .opacity(value), .overlay(.black, fraction: value), .blend(alpha: value),
            .watermark(try noise(2, 2), opacity: value), .watermark(try noise(2, 2), widthFraction: value),
            .border(width: value), .circle(border: ImageBorder(width: value)),
            .roundCorners(.pixels(1), border: ImageBorder(width: value)),
        ]
    }

    private static func numbered(_ value: Double) throws -> [any ImageProcessor] {
        let mark = try noise(2, 2)
        var all: [any ImageProcessor] = [
            .rotate(degrees: value), .rotate(degrees: value, fitsSize: false), .colorControls(brightness: value),
            .colorControls(contrast: value), .colorControls(saturation: value), .colorControls(exposure: value),
            .colorMatrix(.scale(value)), .colorMatrix(.scale(1, bias: value)), .colorMatrix(.saturation(value)),
        ]
        if value.isNaN {
            // Others are taken for the nearest edge.
            all +=
                [
                    .crop(to: PixelSize(2, 2), anchorX: value), .crop(to: PixelSize(2, 2), anchorY: value),
                    .pad(to: PixelSize(9, 9), anchorX: value), .pad(to: PixelSize(9, 9), anchorY: value),
                    .watermark(mark, anchorX: value), .watermark(mark, anchorY: value),
                ] as [any ImageProcessor]
        }
        return all
    }

    private static func counted(_ value: Int) throws -> [any ImageProcessor] {
        var all: [any ImageProcessor] = []
        if value <= 0 {
            all +=
                [
                    .pixelate(side: value), .crop(PixelRect(x: 0, y: 0, width: value, height: 3)),
                    .crop(PixelRect(x: 0, y: 0, width: 3, height: value)), .crop(to: PixelSize(value, 3)),
                    .crop(to: PixelSize(3, value)),
                ] as [any ImageProcessor]
        }
        if value != 0 {
            all +=
                [
                    .pad(value), PadProcessor(.insets(top: value, left: 0, bottom: 0, right: 0)),
                    PadProcessor(.insets(top: 0, left: value, bottom: 0, right: 0)),
                    PadProcessor(.insets(top: 0, left: 0, bottom: value, right: 0)),
                    PadProcessor(.insets(top: 0, left: 0, bottom: 0, right: value)),
                    .watermark(try noise(2, 2), margin: value),
                ] as [any ImageProcessor]
        }
        for box in [PixelSize(value, 5), PixelSize(5, value), PixelSize(value, value)] {
            all +=
                [.resize(to: box), .pad(to: box), .roundCorners(.pixels(1), targetSize: box)] as [any ImageProcessor]
        }
        return all
    }

    private static func refused() throws -> [any ImageProcessor] {
        var all = try colors(noNumbers).flatMap(colored)
        all += try (noNumbers + negative).flatMap(measured)
        all += try noNumbers.flatMap(numbered) + wholeNumbers.flatMap(counted)
        all += radii(noNumbers + negative).flatMap {
            [RoundCornersProcessor($0), BorderProcessor(radius: $0)] as [any ImageProcessor]
        }
        let above: [any ImageProcessor] = [
            .blur(radius: 1000.0.nextUp), .sharpen(amount: 100.0.nextUp), .sharpen(radius: 1000.0.nextUp),
            .sepia(intensity: 1.0.nextUp), .opacity(1.0.nextUp), .overlay(.black, fraction: 1.0.nextUp),
            .blend(alpha: 1.0.nextUp), .watermark(try noise(2, 2), opacity: 1.0.nextUp),
            .watermark(try noise(2, 2), widthFraction: 1.0.nextUp), .watermark(try noise(2, 2), widthFraction: 0),
            .pad(Bitmap.maximumSide + 1), .pad(to: PixelSize(Bitmap.maximumSide + 1, 1)),
            .resize(to: PixelSize(65_536, 1)), .colorControls(contrast: 1e39), .colorControls(exposure: 1e9),
        ]
        return all + above
    }

    @Test func invalidArgumentsAreRefusedBeforeProcessing() throws {
        let (source, opaque) = (try noise(4, 3), try noise(4, 3, hasAlpha: false))
        let processors = try Self.refused()
        #expect(processors.count > 500)
        for processor in processors {
            expectInvalidArgument(processor, source)
            expectInvalidArgument(processor, opaque)
            #expect("\(processor)") { try processor.validate() } throws: { error in
                guard case .invalidArgument? = error as? ProcessingError else { return false }
                return !"\(error)".isEmpty
            }
            // In a chain as well.
            #expect(throws: ProcessingError.self) { try (InvertProcessor().appending(processor)).validate() }
        }
    }

    // MARK: - Odd, but no error

    private static func odd() throws -> [any ImageProcessor] {
        var all: [any ImageProcessor] = try colors(huge).flatMap(colored)
        let mark = try noise(2, 2)
        for value in huge + [.leastNonzeroMagnitude, -0.0] {
            all +=
                [
                    .rotate(degrees: value), .rotate(degrees: value, fitsSize: false, background: .white),
                    .colorControls(brightness: value.remainder(dividingBy: 1e30)),
                    .colorControls(exposure: -abs(value)),
                    .colorMatrix(.scale(3e38, bias: -3e38)), .crop(to: PixelSize(2, 2), anchorX: value, anchorY: value),
                    .pad(to: PixelSize(9, 9), anchorX: value, anchorY: value),
                    .watermark(mark, anchorX: value, anchorY: -value), .border(width: abs(value)),
                    .circle(border: ImageBorder(width: abs(value))),
                    .roundCorners(.widthFraction(abs(value)), border: ImageBorder(width: abs(value))),
                    .border(radius: .heightFraction(abs(value))),
                ] as [any ImageProcessor]
        }
        for value in [Int.max, Int.max / 2, 70_000] {
            all +=
                [
                    .pixelate(side: value), .crop(to: PixelSize(value, value)),
                    .crop(PixelRect(x: -1, y: -1, width: value, height: value)),
                    .crop(PixelRect(x: 1, y: 1, width: value, height: value)), .watermark(mark, margin: 1_000_000),
                ] as [any ImageProcessor]
        }
        let least = Double.leastNonzeroMagnitude
        return all + [
            .blur(radius: least), .sharpen(amount: least), .sharpen(radius: least), .opacity(least),
            .sepia(intensity: least), .overlay(.black, fraction: least), .blend(alpha: least),
            .watermark(mark, widthFraction: least), .watermark(mark, opacity: least), .border(width: least),
            .roundCorners(.pixels(least)), .blur(radius: 1000), .sharpen(amount: 100, radius: 1000),
        ] as [any ImageProcessor]
    }

    @Test func unusualButValidArgumentsAreProcessed() throws {
        let sources = [try noise(4, 3), try noise(4, 3, hasAlpha: false), try noise(1, 1)]
        for processor in try Self.odd() {
            try processor.validate()
            for source in sources {
                do {
                    expectSound(try source.processed(by: processor), "\(processor)")
                } catch ProcessingError.notApplicable {
                    // A rectangle that begins behind the only pixel.
                    #expect(processor is CropProcessor && source.width == 1, "\(processor)")
                }
            }
        }
    }

    // MARK: - Too large

    @Test func resultsThatAreTooLargeAreRefused() throws {
        let source = try noise(4, 3)
        for processor: any ImageProcessor in [
            .pad(Bitmap.maximumSide), .pad(to: PixelSize(20_000, 20_000)), .pad(60_000),
            .resize(to: PixelSize(65_535, 65_535), upscale: true), .pad(to: PixelSize(Bitmap.maximumSide, 300)),
            .resize(to: PixelSize(65_535, 65_535), mode: .stretch, upscale: true),
            .roundCorners(.pixels(1), targetSize: PixelSize(65_535, 65_535)),
        ] as [any ImageProcessor] {
            try processor.validate()
            expectNotApplicable(processor, source)
        }
    }

    @Test(arguments: [
        PixelRect(x: .max, y: 0, width: 1, height: 1), PixelRect(x: 0, y: .min, width: .max, height: .max),
        PixelRect(x: .min, y: .min, width: .max, height: .max), PixelRect(x: 4, y: 0, width: .max, height: 1),
    ])
    func rectanglesBesideTheImageAreRefused(rect: PixelRect) throws {
        expectNotApplicable(.crop(rect), try noise(4, 3))
        // In a run as well.
        #expect(throws: ProcessingError.self) {
            let run: [any ImageProcessor] = [.flip(.vertical), .crop(rect), .rotate(degrees: 90)]
            _ = try run.process(try noise(4, 3), context: .uncancellable)
        }
    }
}
