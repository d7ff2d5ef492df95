import Foundation
import Halcyon

/// The value of a `--process` option: the spelling of a processor.
///
/// Files that it names are read when the processor is made, not before.
struct ProcessorArgument: Sendable {
    private let text: String

    /// Checks the spelling.
    ///
    /// - Throws: `ValidationError` with the forms that the processor takes.
    init(_ text: String) throws {
        self.text = text
        _ = try ProcessorTable.processor(text) { _ in
            let bitmap = try Bitmap(size: PixelSize(1, 1), isOpaque: true, pixels: [0, 0, 0, 255])
            return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size))
        }
    }

    /// Makes the processor.
    ///
    /// - Throws: `FailureReport` if a file that the spelling names cannot be read.
    func processor() throws -> any ImageProcessor {
        try ProcessorTable.processor(text, images: WatermarkFile.image)
    }
}

/// Reads the file of a watermark.
enum WatermarkFile {
    /// Reads an image file on the calling thread.
    ///
    /// - Throws: `FailureReport` with the file's name.
    @Sendable static func image(_ path: String) throws -> Image {
        do {
            return try Image(contentsOf: URL(filePath: path), options: DecodeOptions(isolation: .ofTool))
        } catch {
            let failure = FailureReport(error)
            throw FailureReport(code: failure.code, message: "watermark \(path): \(failure.message)")
        }
    }
}
