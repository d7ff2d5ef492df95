import Foundation
import Halcyon
import HalcyonProcessing

/// The pictures of the processors' documentation.
enum ProcessorPictures {
    static func name(of entry: ProcessorEntry) -> String { "processor-\(entry.name)" }

    static func name(of scene: ProcessorEntry.Scene) -> String {
        scene == .opaque ? "picture" : "picture-clear-edge"
    }

    /// Returns the result of a processor's example on its scene, as PNG.
    static func png(of entry: ProcessorEntry) throws -> Data {
        let processor = try ProcessorTable.processor(entry.example) { _ in try mark() }
        return try encoded(try processor.process(image(of: entry.scene), context: .uncancellable))
    }

    static func png(of scene: ProcessorEntry.Scene) throws -> Data { try encoded(image(of: scene)) }

    private static func image(of scene: ProcessorEntry.Scene) throws -> Image {
        image(try SampleScene.bitmap(isCutOut: scene == .cutOut))
    }

    /// Draws the example watermark, a plate with round corners.
    private static func mark() throws -> Image {
        let text = "Halcyon"
        let size = PixelSize(PixelFont.width(of: text) + 11, 20)
        var canvas = Canvas(size: size, background: .init(0x14181F))
        canvas.write(text, x: 6, y: 4, color: .init(0xFFFFFF))
        return try RoundCornersProcessor(radius: 6).process(image(try canvas.bitmap()), context: .uncancellable)
    }

    private static func image(_ bitmap: Bitmap) -> Image {
        Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size))
    }

    private static func encoded(_ image: Image) throws -> Data {
        try CoderRegistry.shared.encode(image, as: .png, options: EncodeOptions())
    }
}
