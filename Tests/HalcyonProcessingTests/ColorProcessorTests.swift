import Foundation
import HalcyonImage
import HalcyonProcessing
import Testing

/// Colour matrices, and the processors that use them.
@Suite struct ColorProcessorTests {
    /// Red, green, blue and alpha of 0 to 1, not premultiplied, in and out.
    private typealias Change = ([Double]) -> [Double]

    private func expectChanged(
        by processor: some ImageProcessor, at place: SourceLocation = #_sourceLocation, _ change: Change
    ) throws {
        let sources = [try noise(23, 17), try noise(23, 17, hasAlpha: false), try disc(12, .white, softness: 9)]
        for source in sources {
            let result = try source.processed(by: processor)
            let reference = PlainImage(source).map { pixel in
                let alpha = pixel[3]
                let color = [2, 1, 0].map { alpha > 0 ? pixel[$0] / alpha : 0 }
                let changed = change(color + [alpha / 255]).map { min(max($0, 0), 1) * 255 }
                return [2, 1, 0].map { changed[$0] * changed[3] / 255 } + [changed[3]]
            }
            try expect(result, reference, within: 1, at: place)
            expectSound(result, "\(processor)", at: place)
            #expect(result.info == source.info, sourceLocation: place)
        }
    }

    private static let sepia = ColorMatrix(
        red: .init(0.393, 0.769, 0.189), green: .init(0.349, 0.686, 0.168), blue: .init(0.272, 0.534, 0.131))

    private static let matrices = [
        // Colours of colours alone.
        sepia, .saturation(0.3), .saturation(2.5), .scale(1.7, bias: -0.2), .scale(-1, bias: 1), .scale(0, bias: 2),
        ColorMatrix(red: .init(0, 1, 0), green: .init(0, 0, 1), blue: .init(1, 0, 0)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0, 0, 0, 0.5)),
        ColorMatrix(
            red: .init(2, -1, 0.3, bias: 0.1), green: .init(0, 0.5, 0, bias: -0.1), blue: .init(1, 1, 1),
            alpha: .init(0, 0, 0, 0.25)),
        // With alpha among them.
        ColorMatrix(red: .init(1, 0, 0, 0.5), green: .init(0, 1, 0, -0.5), blue: .init(0, 0, 1)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0.3, 0.5, 0.2)),
        ColorMatrix(
            red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0, 0, 0, 0, bias: 1)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0, 0, 0, 3)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0, 0, 0, -1)),
        ColorMatrix(
            red: .init(0.2, 0.4, 0.1, 0.3, bias: -0.1), green: .init(-1, 2, 0, 0.1, bias: 0.3),
            blue: .init(0, 0, -1, 0, bias: 1), alpha: .init(0.1, 0.1, 0.1, 0.5, bias: 0.1)),
        // With one value alone.
        ColorMatrix(red: .init(1, 0, 0, 0.5), green: .init(0, 1, 0), blue: .init(0, 0, 1)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0, 0.5), blue: .init(0, 0, 1)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1, 0.5)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0.5, 0, 0, 0.5)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0, 0.5, 0, 0.5)),
        ColorMatrix(red: .init(1, 0, 0), green: .init(0, 1, 0), blue: .init(0, 0, 1), alpha: .init(0, 0, 0.5, 0.5)),
    ]

    private func multiplied(_ matrix: ColorMatrix, _ color: [Double]) -> [Double] {
        [matrix.red, matrix.green, matrix.blue, matrix.alpha].map {
            $0.red * color[0] + $0.green * color[1] + $0.blue * color[2] + $0.alpha * color[3] + $0.bias
        }
    }

    @Test(arguments: matrices.indices)
    func eachPixelIsMultiplied(index: Int) throws {
        let matrix = Self.matrices[index]
        try expectChanged(by: .colorMatrix(matrix)) { multiplied(matrix, $0) }
    }

    @Test func onePastTheOtherIsTheirProduct() {
        for first in Self.matrices {
            for next in Self.matrices {
                let color = [0.3, 0.6, 0.1, 0.8]
                let both = multiplied(next, multiplied(first, color))
                let product = multiplied(first.followed(by: next), color)
                #expect(zip(both, product).allSatisfy { abs($0 - $1) < 1e-9 })
            }
        }
    }

    @Test func nothingToChangeCopiesNothing() throws {
        let source = try noise(20, 10)
        for processor: any ImageProcessor in [
            .colorMatrix(.identity), .colorMatrix(.saturation(1)), .colorMatrix(.scale(1)), .opacity(1),
            .sepia(intensity: 0), .colorControls(), .overlay(.black, fraction: 1), .overlay(.clear),
        ] as [any ImageProcessor] {
            #expect(try source.processed(by: processor).bitmap === source.bitmap, "\(processor)")
        }
    }

    @Test(arguments: [
        [0.2, 1, 1, 0], [-0.3, 1, 1, 0], [0, 1.5, 1, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 3, 0], [0, 1, 1, 0.7],
        [0, 1, 1, -2], [0.1, 1.2, 0.6, 0.5], [-0.2, 0.7, 1.8, -0.4], [1, 1, 1, 0], [-1, 1, 1, 0], [0, -1, -1, 0],
    ])
    func controlsAreAppliedInOrder(values: [Double]) throws {
        let (brightness, contrast, saturation, exposure) = (values[0], values[1], values[2], values[3])
        let processor = ColorControlsProcessor(
            brightness: brightness, contrast: contrast, saturation: saturation, exposure: exposure)
        try expectChanged(by: processor) { color in
            let light = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
            return (0..<3).map {
                let saturated = light + (color[$0] - light) * saturation
                return ((saturated - 0.5) * contrast + 0.5 + brightness) * pow(2, exposure)
            } + [color[3]]
        }
    }

    @Test func blackWhiteIsGreyAndLighter() throws {
        try expectChanged(by: .blackWhite) { color in
            let light = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
            return [Double](repeating: light * pow(2, 0.7), count: 3) + [color[3]]
        }
        let grey = try noise(9, 9).processed(by: .blackWhite)
        for y in 0..<9 {
            for x in 0..<9 { #expect(Set(grey[x, y].prefix(3)).count == 1) }
        }
    }

    @Test(arguments: [0, 0.001, 0.25, 0.5, 0.9, 0.999])
    func opacityMultipliesAlpha(opacity: Double) throws {
        try expectChanged(by: .opacity(opacity)) { $0.prefix(3) + [$0[3] * opacity] }
    }

    @Test func invertIsTheComplement() throws {
        try expectChanged(by: .invert) { $0.prefix(3).map { 1 - $0 } + [$0[3]] }
        let source = try noise(20, 10)
        #expect(try source.processed(by: .invert).processed(by: .invert).bytes == source.bytes)
    }

    @Test(arguments: [0.1, 0.5, 1])
    func sepiaIsAPartOfItsMatrix(intensity: Double) throws {
        try expectChanged(by: .sepia(intensity: intensity)) { color in
            zip(color, multiplied(Self.sepia, color)).map { $0 + ($1 - $0) * intensity }
        }
    }

    @Test(arguments: [0, 0.25, 0.5, 0.9], [1, 0.5, 0.01])
    func anOverlayLeavesAFractionOfTheImage(fraction: Double, alpha: Double) throws {
        let overlay = [0.9, 0.3, 0.1]
        let color = Color(red: overlay[0], green: overlay[1], blue: overlay[2], alpha: alpha)
        try expectChanged(by: .overlay(color, fraction: fraction)) { pixel in
            let share = (1 - fraction) * alpha
            let colors: [Double] = (0..<3).map { pixel[$0] * (1 - share) + overlay[$0] * share }
            return colors + [pixel[3]]
        }
    }

    @Test func channelsBeyondTheirsAreTakenForTheirEnds() throws {
        let source = try noise(9, 9)
        let wild = Color(red: 7, green: -3, blue: 0.5, alpha: 2)
        let tame = Color(red: 1, green: 0, blue: 0.5)
        #expect(try source.processed(by: .overlay(wild)).bytes == source.processed(by: .overlay(tame)).bytes)
        #expect(try source.processed(by: .tint(wild)).bytes == source.processed(by: .tint(tame)).bytes)
    }
}
