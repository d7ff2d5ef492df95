import Foundation
import HalcyonImage

/// An encoding, and the way in which its quality was found.
package struct FoundEncoding: Sendable {
    /// A quality that a `QualityTarget` has led to.
    package struct Search: Sendable {
        package let quality: Double
        /// The score at that quality: of an animation, that of its first frame.
        package let score: Double
        /// The number of files that were made and compared.
        package let comparisons: Int
    }

    package let data: Data
    /// Nil if no quality was looked for, or if a limit of bytes may have changed it.
    package let search: Search?

    package init(data: Data, search: Search? = nil) {
        (self.data, self.search) = (data, search)
    }
}

/// A search for the quality, in hundredths, whose file has a score.
///
/// From one quality to the next, the logarithm of a picture's loss is taken for a straight line over that of the format's curve. The first
/// quality is the curve's; after one file, the line through it has the curve's slope; from two on, it goes through the two that enclose
/// the target, or through the last two.
struct ScoreSearch {
    /// The most files that are made.
    static let mostComparisons = 4

    private struct Attempt {
        let level: Int
        let loss: Double
        let data: Data
    }

    private let target: QualityTarget
    private let curve: QualityCurve
    private let loss: Double
    private let levels: ClosedRange<Int>
    private var attempts: [Attempt] = []

    init(_ target: QualityTarget, _ format: ImageFormat) {
        self.target = target
        curve = QualityCurve(format)
        loss = 100 - target.score
        // The bounds themselves count as well where they lie between two hundredths, and 7.000000000000001 of those are seven.
        let (lowest, highest) = (target.qualities.lowerBound * 100 + 1e-9, target.qualities.upperBound * 100 - 1e-9)
        levels = Int(lowest.rounded(.down))...max(Int(lowest.rounded(.down)), Int(highest.rounded(.up)))
    }

    /// Returns the file whose score is nearest: of two that are as near, the better one, or the smaller one.
    ///
    /// - Parameter encode: makes the file of a quality and returns it with its score.
    /// - Throws: the errors of `encode`.
    mutating func run(_ encode: (_ quality: Double) throws -> (Data, score: Double)) rethrows -> FoundEncoding? {
        var next: Int? = clamped(curve.level(of: loss), to: levels)
        while let level = next, attempts.count < Self.mostComparisons {
            let (data, score) = try encode(quality(level))
            attempts.append(Attempt(level: level, loss: 100 - score, data: data))
            next = distance(100 - score) <= target.tolerance ? nil : nextLevel()
        }
        let best = attempts.min { one, other in
            (distance(one.loss), one.loss, one.data.count) < (distance(other.loss), other.loss, other.data.count)
        }
        return best.map {
            let search = FoundEncoding.Search(
                quality: quality($0.level), score: 100 - $0.loss, comparisons: attempts.count)
            return FoundEncoding(data: $0.data, search: search)
        }
    }

    private func quality(_ level: Int) -> Double {
        min(max(Double(level) / 100, target.qualities.lowerBound), target.qualities.upperBound)
    }

    private func distance(_ loss: Double) -> Double { abs(loss - self.loss) }

    /// Returns the quality to try next; nil if none is left between those that were tried.
    private func nextLevel() -> Int? {
        let poor = attempts.filter { $0.loss > loss }.max { $0.level < $1.level }
        let good = attempts.filter { $0.loss <= loss }.min { $0.level < $1.level }
        let lowest = poor.map { $0.level + 1 } ?? levels.lowerBound
        let highest = good.map { $0.level - 1 } ?? levels.upperBound
        // Also where a better quality has a worse score, as it happens with a picture that was a JPEG before.
        guard lowest <= highest, let last = attempts.last else { return nil }
        let other: Attempt? =
            if let poor, let good { poor.level == last.level ? good : poor } else { attempts.dropLast().last }
        return clamped(level(through: last, other), to: lowest...highest)
    }

    /// Returns the quality at which the line through two attempts has the target's loss.
    private func level(through one: Attempt, _ other: Attempt?) -> Double {
        func places(_ attempt: Attempt) -> (x: Double, y: Double) {
            (log(curve.loss(at: Double(attempt.level))), log(max(attempt.loss, 0.01)))
        }
        let (x, y) = places(one)
        var slope = 1.0
        if let other {
            let second = places(other)
            // A line that hardly rises, or that falls, leads nowhere.
            if second.x != x { slope = min(max((second.y - y) / (second.x - x), 0.2), 5) }
        }
        return curve.level(of: exp(x + (log(max(loss, 0.01)) - y) / slope))
    }

    private func clamped(_ level: Double, to range: ClosedRange<Int>) -> Int {
        min(max(Int(level.rounded()), range.lowerBound), range.upperBound)
    }
}
