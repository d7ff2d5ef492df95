import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

extension AllProcessors {
    static var colors: [ProcessorFamily] {
        let color = Color(red: 0.8, green: 0.4, blue: 0.2, alpha: 0.5)
        return [
            ProcessorFamily("colour matrix", .colorMatrix(matrix()), matrices.map { .colorMatrix($0) }),
            ProcessorFamily(
                "colour controls", .colorControls(brightness: 0.1, contrast: 1.2, saturation: 0.8, exposure: 0.3),
                [
                    .colorControls(brightness: 0.2, contrast: 1.2, saturation: 0.8, exposure: 0.3),
                    .colorControls(brightness: 0.1, contrast: 1.1, saturation: 0.8, exposure: 0.3),
                    .colorControls(brightness: 0.1, contrast: 1.2, saturation: 0.7, exposure: 0.3),
                    .colorControls(brightness: 0.1, contrast: 1.2, saturation: 0.8, exposure: -0.3),
                ]),
            ProcessorFamily("black and white", .blackWhite, []),
            ProcessorFamily("invert", .invert, []),
            ProcessorFamily("sepia", .sepia(), [.sepia(intensity: 0.5), .sepia(intensity: 1.0.nextDown)]),
            ProcessorFamily("opacity", .opacity(0.5), [.opacity(0), .opacity(0.25)]),
            ProcessorFamily(
                "overlay", .overlay(color),
                changed(color).map { .overlay($0) } + [.overlay(color, fraction: 0), .overlay(color, fraction: 0.25)]),
        ]
    }

    /// Drawn by Cairo, in tiles of 256 rows.
    static var layers: [ProcessorFamily] {
        let color = Color(red: 0.8, green: 0.4, blue: 0.2, alpha: 0.5)
        let modes = BlendMode.allCases
        return [
            ProcessorFamily(
                "tint", .tint(color), questions: 3,
                changed(color).map { .tint($0) }
                    + modes.filter { $0 != .sourceAtop }.map { .tint(color, mode: $0) }),
            ProcessorFamily(
                "blend", .blend(background: color), questions: 3,
                changed(color).map { .blend(background: $0) } + [.blend(alpha: 0.5, background: color)]
                    + modes.filter { $0 != .over }.map { .blend($0, background: color) }),
        ]
    }

    static func composition() throws -> [ProcessorFamily] {
        let (mark, other) = (try noise(9, 6), try noise(10, 6, hasAlpha: false))
        let (blur, flip): (BlurProcessor, FlipProcessor) = (.blur(radius: 1), .flip(.vertical))
        return [
            ProcessorFamily(
                "watermark", .watermark(mark),
                [
                    .watermark(other), .watermark(mark, anchorX: 0.25), .watermark(mark, anchorY: 0),
                    .watermark(mark, margin: 1), .watermark(mark, widthFraction: 0.5),
                    .watermark(mark, widthFraction: 0.25), .watermark(mark, opacity: 0.5),
                ]),
            ProcessorFamily(
                "general", general("org.example.one"),
                [
                    general("org.example.two"), general("org.example.one", version: 2),
                    general("org.example.one", appliesPerFrame: false),
                ]),
            ProcessorFamily(
                "chain", ChainProcessor([blur, flip]),
                [ChainProcessor([flip, blur]), ChainProcessor([blur, flip, blur]), ChainProcessor([blur, blur])]),
        ]
    }

    /// Copies rows, and asks before each sixteenth.
    private static func general(
        _ identifier: String, version: Int = 1, appliesPerFrame: Bool = true
    ) -> GeneralProcessor {
        .general(identifier, version: version, appliesPerFrame: appliesPerFrame) { image, context in
            for row in 0..<image.height where row % 16 == 0 { try context.checkCancellation() }
            return image.replacing(try image.bitmap.oriented(.upMirrored))
        }
    }

    /// One channel other at a time.
    private static func changed(_ color: Color) -> [Color] {
        let channels: [WritableKeyPath<Color, Double>] = [\.red, \.green, \.blue, \.alpha]
        return channels.map { channel in
            var other = color
            other[keyPath: channel] += 0.1
            return other
        }
    }

    private static func matrix() -> ColorMatrix {
        ColorMatrix(
            red: .init(0.5, 0.3, 0.1, bias: 0.1), green: .init(0.2, 0.6, 0.1), blue: .init(0.3, 0, 0.6),
            alpha: .init(0, 0, 0, 0.75))
    }

    /// One of the twenty numbers other at a time.
    private static var matrices: [ColorMatrix] {
        let rows: [WritableKeyPath<ColorMatrix, ColorMatrix.Row>] = [\.red, \.green, \.blue, \.alpha]
        let columns: [WritableKeyPath<ColorMatrix.Row, Double>] = [\.red, \.green, \.blue, \.alpha, \.bias]
        return rows.flatMap { row in
            columns.map { column in
                var other = matrix()
                other[keyPath: row.appending(path: column)] += 0.125
                return other
            }
        }
    }
}
