import Foundation
import Halcyon

/// The structural similarity of two pictures: 1 for equal ones, less the more they differ.
///
/// The index is that of Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural
/// similarity", IEEE Transactions on Image Processing 13(4), 2004: local means, variances and the covariance under a Gaussian
/// window of 11x11 pixels with a standard deviation of 1.5, K1 = 0.01, K2 = 0.03 and a range of 255, averaged over all places
/// where the window lies inside the picture. It is computed on luma (0.299 red + 0.587 green + 0.114 blue, of premultiplied
/// channels), in double precision and without a reduction beforehand.
enum StructuralSimilarity {
    private static let side = 11
    private static let deviation = 1.5
    private static let c1 = (0.01 * 255) * (0.01 * 255)
    private static let c2 = (0.03 * 255) * (0.03 * 255)

    /// Returns the mean of the index. The window of a picture with fewer than 11 pixels on a side has as many as there are.
    ///
    /// Cost: linear in the pixels, with 110 multiplications each; memory for 11 rows of either picture.
    ///
    /// - Precondition: both pictures have the same size.
    static func index(_ one: Bitmap, _ other: Bitmap) -> Double {
        precondition(one.size == other.size)
        let across = window(min(side, one.width))
        let down = window(min(side, one.height))
        let width = one.width - across.count + 1
        var rows: [Moments] = []
        var sum = 0.0
        for y in 0..<one.height {
            if rows.count == down.count { rows.removeFirst() }
            rows.append(Moments(luma(one, row: y), luma(other, row: y), window: across, width: width))
            if rows.count == down.count { sum += index(rows, window: down, width: width) }
        }
        return sum / Double(width * (one.height - down.count + 1))
    }

    /// The weighted means along a row: of both pictures, of their squares and of their product.
    private struct Moments {
        var one: [Double]
        var other: [Double]
        var oneSquared: [Double]
        var otherSquared: [Double]
        var product: [Double]

        init(width: Int) {
            let zeros = [Double](repeating: 0, count: width)
            (one, other, oneSquared, otherSquared, product) = (zeros, zeros, zeros, zeros, zeros)
        }

        init(_ first: [Double], _ second: [Double], window: [Double], width: Int) {
            self.init(width: width)
            for x in 0..<width {
                var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for (index, weight) in window.enumerated() {
                    let (p, q) = (first[x + index], second[x + index])
                    a += weight * p
                    b += weight * q
                    aa += weight * p * p
                    bb += weight * q * q
                    ab += weight * p * q
                }
                (one[x], other[x], oneSquared[x], otherSquared[x], product[x]) = (a, b, aa, bb, ab)
            }
        }
    }

    /// Returns the sum of the index over a row of places.
    private static func index(_ rows: [Moments], window: [Double], width: Int) -> Double {
        var sum = 0.0
        for x in 0..<width {
            var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for (row, weight) in zip(rows, window) {
                a += weight * row.one[x]
                b += weight * row.other[x]
                aa += weight * row.oneSquared[x]
                bb += weight * row.otherSquared[x]
                ab += weight * row.product[x]
            }
            let (varianceA, varianceB, covariance) = (aa - a * a, bb - b * b, ab - a * b)
            sum +=
                (2 * a * b + c1) * (2 * covariance + c2) / ((a * a + b * b + c1) * (varianceA + varianceB + c2))
        }
        return sum
    }

    private static func window(_ count: Int) -> [Double] {
        let middle = Double(count - 1) / 2
        let weights = (0..<count).map { index in
            let distance = Double(index) - middle
            return exp(-distance * distance / (2 * deviation * deviation))
        }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }

    private static func luma(_ bitmap: Bitmap, row: Int) -> [Double] {
        bitmap.withPixels { bytes in
            (0..<bitmap.width).map { x in
                let offset = row * bitmap.bytesPerRow + x * 4
                let (blue, green, red) = (bytes[offset], bytes[offset + 1], bytes[offset + 2])
                return 0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)
            }
        }
    }
}
