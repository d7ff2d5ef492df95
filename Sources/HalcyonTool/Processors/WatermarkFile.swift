import Foundation
import Halcyon

/// The file of a watermark.
enum WatermarkFile {
    /// Reads it on the calling thread.
    ///
    /// - Throws: `FailureReport`, which names the file.
    @Sendable static func image(_ path: String) throws -> Image {
        do {
            return try Image(contentsOf: URL(filePath: path))
        } catch {
            let failure = FailureReport(error)
            throw FailureReport(code: failure.code, message: "watermark \(path): \(failure.message)")
        }
    }
}
