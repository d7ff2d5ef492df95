import Halcyon

/// One `--process`: a spelling that suits a processor.
///
/// Files that it names are read when the processor is made, not before.
struct ProcessorArgument: Sendable {
    private let text: String

    /// - Throws: `ValidationError`, which says what the processor takes.
    init(_ text: String) throws {
        self.text = text
        _ = try ProcessorTable.processor(text) { _ in
            let bitmap = try Bitmap(size: PixelSize(1, 1), isOpaque: true, pixels: [0, 0, 0, 255])
            return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size))
        }
    }

    /// - Throws: `FailureReport` where a file that it names cannot be read.
    func processor() throws -> any ImageProcessor {
        try ProcessorTable.processor(text, images: WatermarkFile.image)
    }
}
