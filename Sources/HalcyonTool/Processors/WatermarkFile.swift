import Foundation
import Halcyon

/// Reads the file of a watermark.
enum WatermarkFile {
    /// Reads an image file on the calling thread.
    ///
    /// - Throws: `FailureReport` with the file's name.
    @Sendable static func image(_ path: String) throws -> Image {
        do {
            return try Image(contentsOf: URL(filePath: path))
        } catch {
            let failure = FailureReport(error)
            throw FailureReport(code: failure.code, message: "watermark \(path): \(failure.message)")
        }
    }
}
