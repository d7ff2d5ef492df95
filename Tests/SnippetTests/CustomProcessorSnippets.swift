// The examples of docs/CustomProcessors.md, compiled and run. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import HalcyonTesting
import Testing

import Halcyon
import HalcyonProcessing

struct Duotone: ImageProcessor {
    var strength: UInt8

    func process(_ image: Image, context: WorkContext) throws -> Image {
        var pixels = try image.pixels(layout: .rgba)
        let row = image.width * 4
        for start in stride(from: 0, to: pixels.count, by: row) {
            try context.checkCancellation()
            for pixel in stride(from: start, to: start + row, by: 4) {
                let grey = (Int(pixels[pixel]) + Int(pixels[pixel + 1]) * 2 + Int(pixels[pixel + 2])) / 4
                pixels[pixel] = UInt8(grey)
                pixels[pixel + 1] = UInt8(grey * (255 - Int(strength)) / 255)
                pixels[pixel + 2] = UInt8(max(grey, Int(strength)))
            }
        }
        let result = try Image(width: image.width, height: image.height, pixels: pixels, layout: .rgba)
        return image.replacing(result.bitmap)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "org.example.duotone", version: 1)
        key.encode(Int(strength))
    }
}

func useOfACustomProcessor(url: URL) async throws -> Image {
    let processors: [any ImageProcessor] = [.resize(to: PixelSize(320, 240)), Duotone(strength: 80)]
    let request = ImageRequest(url, processors: processors, cachePolicy: .storeProcessed)
    let image = try await ImagePipeline.shared.image(for: request)
    return image
}

struct CustomProcessorSnippets {
    @Test func theProcessorOfThePageWorks() throws {
        let image = try Image(width: 2, height: 1, pixels: [200, 200, 200, 255, 10, 20, 30, 0], layout: .rgba)
        let result = try image.processed(by: [Duotone(strength: 51)])
        #expect(try Array(result.pixels(layout: .rgba)) == [200, 160, 200, 255, 0, 0, 0, 0])
        #expect(throws: CancellationError.self) {
            try Duotone(strength: 1).process(image, context: .cancelled(atCheck: 1))
        }
    }
}
