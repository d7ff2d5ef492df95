import Foundation
import HalcyonImage

/// An error that a processor reports.
public enum ProcessingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A parameter that suits no image, such as a width of zero.
    case invalidArgument(processor: String, reason: String)
    /// A parameter that does not suit this image, such as a crop outside of it.
    case notApplicable(processor: String, reason: String)
    /// The system or a library failed.
    case failed(processor: String, reason: String)

    public var description: String {
        switch self {
        case .invalidArgument(let processor, let reason): "\(processor): \(reason)"
        case .notApplicable(let processor, let reason): "\(processor): \(reason)"
        case .failed(let processor, let reason): "\(processor) failed: \(reason)"
        }
    }
}

extension ProcessingError: LocalizedError {
    public var errorDescription: String? { description }
}

/// The limit on the size of a processor's result.
enum ResultLimit {
    /// 2^28 pixels, a bitmap of 1 GiB: the same limit as for a decode.
    static let maximumPixels = 1 << 28

    /// - Throws: `ProcessingError.notApplicable` if the size exceeds the limit.
    static func check(_ size: PixelSize, processor: String) throws {
        let side = Bitmap.maximumSide
        guard size.width <= side, size.height <= side, let area = size.area, area <= maximumPixels else {
            throw ProcessingError.notApplicable(
                processor: processor,
                reason: "it would be \(size) pixels large; the most are \(maximumPixels), and \(side) a side")
        }
    }
}

/// The check of a parameter from 0 to 1.
enum Fraction {
    /// - Throws: `ProcessingError.invalidArgument` if the value is not in 0...1.
    static func validate(_ value: Double, processor: String) throws(ProcessingError) {
        guard (0...1).contains(value) else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "\(value) is not between 0 and 1")
        }
    }
}
