import Foundation
import Halcyon

/// The similarity of two pictures.
enum Likeness {
    /// The limit below which two pictures are different ones. It is low because the peers place a rotated picture
    /// half a pixel away from Halcyon's if their canvas is a pixel larger, and noise does not survive that.
    static let least = 20.0
    /// The tolerance of a side in pixels: the peers round the sides of a rotated picture differently.
    private static let tolerance = 2

    /// Returns the peak signal-to-noise ratio of all four channels, with the centres aligned; 99 for identical
    /// pixels.
    static func decibels(of bitmap: Bitmap, to pixels: Data, _ size: PixelSize) throws -> Double {
        guard abs(bitmap.width - size.width) <= tolerance, abs(bitmap.height - size.height) <= tolerance else {
            throw BenchmarkFailure("\(size) instead of \(bitmap.size)")
        }
        let common = PixelSize(min(bitmap.width, size.width), min(bitmap.height, size.height))
        let sum = bitmap.withPixels { ours in
            pixels.withUnsafeBytes { theirs in
                squares(common, Cut(ours, bitmap.size, common), Cut(theirs, size, common))
            }
        }
        guard sum > 0 else { return 99 }
        return 10 * log10(255 * 255 * Double(common.width * common.height * 4) / Double(sum))
    }

    private static func squares(_ size: PixelSize, _ left: Cut, _ right: Cut) -> Int {
        var sum = 0
        for y in 0..<size.height {
            let (leftRow, rightRow) = (left.row(y), right.row(y))
            for offset in 0..<size.width * 4 {
                let difference = Int(left.bytes[leftRow + offset]) - Int(right.bytes[rightRow + offset])
                sum += difference * difference
            }
        }
        return sum
    }

    /// The centre part of a picture.
    private struct Cut {
        let bytes: UnsafeRawBufferPointer
        private let width: Int
        private let start: Int

        init(_ bytes: UnsafeRawBufferPointer, _ whole: PixelSize, _ part: PixelSize) {
            self.bytes = bytes
            width = whole.width
            start = (whole.height - part.height) / 2 * whole.width + (whole.width - part.width) / 2
        }

        func row(_ y: Int) -> Int { (start + y * width) * 4 }
    }
}
