import Foundation
import Halcyon

/// The differences of two pictures of one size, pixel by pixel.
struct PictureDifference: Sendable {
    /// The mean of the squared differences of the channels, from 0 to 65,025.
    let meanSquare: Double
    /// The largest difference of a channel, from 0 to 255.
    let largest: Int
    /// The number of pixels that differ.
    let pixels: Int

    /// The peak signal-to-noise ratio in decibels, 10 log10(255² / mean square); infinite for equal pictures.
    var psnr: Double { meanSquare == 0 ? .infinity : 10 * log10(255 * 255 / meanSquare) }

    var isNone: Bool { pixels == 0 }

    /// Compares premultiplied red, green and blue, and alpha as well if a picture has transparent pixels.
    ///
    /// - Precondition: both pictures have the same size.
    init(_ one: Bitmap, _ other: Bitmap) {
        precondition(one.size == other.size)
        // An integer: 2^32 pixels of four channels have a sum below 2^50.
        var (sum, largest, pixels) = (UInt64(0), 0, 0)
        one.withPixels { left in
            other.withPixels { right in
                for offset in stride(from: 0, to: left.count, by: 4) {
                    var differs = false
                    for channel in offset..<offset + 4 where left[channel] != right[channel] {
                        let difference = abs(Int(left[channel]) - Int(right[channel]))
                        sum += UInt64(difference * difference)
                        largest = max(largest, difference)
                        differs = true
                    }
                    if differs { pixels += 1 }
                }
            }
        }
        let channels = one.isOpaque && other.isOpaque ? 3 : 4
        meanSquare = Double(sum) / (Double(one.width) * Double(one.height) * Double(channels))
        self.largest = largest
        self.pixels = pixels
    }

    /// Draws the differences of each channel, times a factor, on black. A difference of alpha counts in all channels.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    static func picture(_ one: Bitmap, _ other: Bitmap, amplified factor: Int) throws -> Image {
        precondition(one.size == other.size)
        let bitmap = try Bitmap(size: one.size, isOpaque: true) { output in
            one.withPixels { left in
                other.withPixels { right in
                    for offset in stride(from: 0, to: left.count, by: 4) {
                        func difference(_ channel: Int) -> Int {
                            abs(Int(left[offset + channel]) - Int(right[offset + channel]))
                        }
                        let alpha = difference(3)
                        for channel in 0..<3 {
                            let value = max(difference(channel), alpha).multipliedReportingOverflow(by: factor)
                            output[offset + channel] = value.overflow ? 255 : UInt8(min(value.partialValue, 255))
                        }
                        output[offset + 3] = 255
                    }
                }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size))
    }
}
