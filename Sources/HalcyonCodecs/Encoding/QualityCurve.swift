import Foundation
import HalcyonImage

/// The loss at each quality of a format, as an average of pictures: where a search for a score begins, and by which it goes on.
///
/// The loss is 100 less the score. `scripts/check-quality --curves` measures these numbers.
struct QualityCurve {
    /// The losses at qualities of 0, 0.1 and so on to 1, each less than the one before.
    private let losses: [Double]

    init(_ format: ImageFormat) {
        losses =
            switch format {
            case .webp: [54.5, 40.9, 34.9, 30.3, 27.0, 24.6, 22.4, 20.6, 17.1, 12.0, 8.8]
            case .avif: [95.5, 70.8, 52.5, 39.9, 30.5, 23.6, 17.8, 14.9, 12.2, 7.4, 2.6]
            case .jpegXL: [55.8, 50.7, 37.5, 34.8, 32.0, 29.0, 23.7, 20.7, 17.2, 12.4, 4.9]
            default: [107.0, 56.9, 38.8, 31.5, 27.2, 24.3, 22.0, 19.2, 15.8, 11.5, 6.2]
            }
    }

    /// Returns the loss at a quality in hundredths, which may lie between two of them.
    func loss(at level: Double) -> Double {
        let place = min(max(level, 0), 100) / 10
        let index = min(Int(place), losses.count - 2)
        let (left, right) = (log(losses[index]), log(losses[index + 1]))
        return exp(left + (right - left) * (place - Double(index)))
    }

    /// Returns the quality in hundredths at which the loss is this one: 0 and 100 for all that are beyond.
    func level(of loss: Double) -> Double {
        guard let first = losses.first, loss < first else { return 0 }
        guard let index = losses.indices.dropLast().first(where: { loss > losses[$0 + 1] }) else { return 100 }
        let (left, right) = (log(losses[index]), log(losses[index + 1]))
        return (Double(index) + (log(loss) - left) / (right - left)) * 10
    }
}
