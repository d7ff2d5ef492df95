import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

/// Processors and the pixels of more than 8 bits a channel.
@Suite struct DeepProcessingTests {
    private func image(_ size: PixelSize = PixelSize(40, 30)) throws -> Image {
        let deep = try DeepBitmap(size: size, format: .init(), isOpaque: true) { bytes in
            let words = bytes.bindMemory(to: UInt16.self)
            for index in words.indices {
                words[index] = index % 4 == 3 ? 65_535 : UInt16(truncatingIfNeeded: index &* 40_503)
            }
        }
        return try Image(deep)
    }

    private func run(_ processor: any ImageProcessor, _ image: Image) throws -> Image {
        try processor.process(image, context: .uncancellable)
    }

    private func word(_ image: Image, _ x: Int, _ y: Int) -> Float? { image.deepBitmap?.pixel(x: x, y: y)?.red }

    @Test func geometryKeepsThem() throws {
        let image = try image()
        let cut = try run(.crop(PixelRect(x: 7, y: 5, width: 20, height: 11)), image)
        #expect(cut.deepBitmap?.size == PixelSize(20, 11) && cut.size == PixelSize(20, 11))
        #expect(word(cut, 2, 3) == word(image, 9, 8))
        let flipped = try run(.flip(.horizontal), image)
        #expect(word(flipped, 0, 4) == word(image, 39, 4))
        let turned = try run(.rotate(degrees: 90), image)
        #expect(turned.size == PixelSize(30, 40) && turned.deepBitmap?.size == turned.size)
        #expect(word(turned, 29, 0) == word(image, 0, 0))
        let half = try run(.rotate(degrees: 180), image)
        #expect(word(half, 39, 29) == word(image, 0, 0))
        let small = try run(.resize(to: PixelSize(13, 13)), image)
        #expect(small.deepBitmap?.size == small.size && small.size == PixelSize(13, 10))
    }

    @Test func aChainOfThemIsOnePass() throws {
        let image = try image()
        let chain = ChainProcessor(
            [
                .crop(PixelRect(x: 4, y: 4, width: 30, height: 20)), .rotate(degrees: 270),
                .resize(to: PixelSize(10, 15)),
                .flip(.vertical),
            ] as [any ImageProcessor])
        let made = try run(chain, image)
        #expect(made.deepBitmap?.size == made.size && made.size == PixelSize(10, 15))
        // The same as one after the other, but for the rounding of the scaling.
        var steps = image
        for processor in chain.processors { steps = try run(processor, steps) }
        for y in 0..<15 {
            for x in 0..<10 { #expect(abs((word(made, x, y) ?? 9) - (word(steps, x, y) ?? 0)) <= 2 / 65_535) }
        }
    }

    @Test func everyOtherProcessorLeavesThemOut() throws {
        let image = try image()
        let others: [any ImageProcessor] = [
            .rotate(degrees: 30), .blur(radius: 2), .opacity(0.5), .pad(top: 1, left: 1, bottom: 1, right: 1),
            .circle(),
        ]
        for processor in others { #expect(try run(processor, image).deepBitmap == nil, "\(processor)") }
    }
}
