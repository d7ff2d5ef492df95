import Foundation
import HalcyonImage

/// A search for the best quality, in hundredths, whose file is small enough. It encodes at most eight times.
struct QualitySearch {
    let format: ImageFormat
    let maximumBytes: Int

    /// Returns the file of the best quality that fits.
    ///
    /// - Throws: `CodecError.encodingFailed` if the file is too large even at quality 0, and the errors of `encode`.
    func run(_ options: EncodeOptions, _ encode: (EncodeOptions) throws -> Data) throws -> Data {
        var options = options
        let asked = try encode(options)
        if asked.count <= maximumBytes { return asked }
        var best: Data?
        var smallest = asked.count
        var range = 0..<Int((options.clampedQuality * 100).rounded(.up))
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            options.quality = Double(middle) / 100
            let data = try encode(options)
            smallest = min(smallest, data.count)
            if data.count <= maximumBytes {
                best = data
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        guard let best else {
            throw CodecError.encodingFailed(
                format, reason: "\(smallest) bytes at the lowest quality; the limit is \(maximumBytes)")
        }
        return best
    }
}
