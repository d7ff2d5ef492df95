import Foundation

/// Gauss's curve that is cut off at a distance, as thumbor's is.
enum GaussCut {
    /// Returns the standard deviation of what remains: a whole curve with the same one looks the same.
    static func deviation(of sigma: Double, endingAt radius: Int) -> Double {
        guard sigma > 0, radius > 0 else { return 0 }
        let radius = min(radius, 1000)
        var (sum, weights) = (0.0, 0.0)
        for distance in -radius...radius {
            let weight = exp(-Double(distance * distance) / (2 * sigma * sigma))
            sum += weight * Double(distance * distance)
            weights += weight
        }
        return (sum / weights).squareRoot()
    }
}
