import Halcyon

/// thumbor's mask of the luminance alone: each pixel is raised by as much as sharpening raises its luminance (ITU-R BT.601), so that
/// edges get steeper and no colour changes.
struct LuminanceSharpening: ImageProcessor {
    let amount: Double
    let radius: Double

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.luminance", version: 1)
        key.encode(amount)
        key.encode(radius)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let mask: any ImageProcessor = .sharpen(amount: amount, radius: radius)
        let sharpened = try mask.process(image, context: context).bitmap
        let bitmap = image.bitmap
        let result = try Bitmap(size: image.size, isOpaque: bitmap.isOpaque) { output in
            bitmap.withPixels { before in
                sharpened.withPixels { after in
                    for pixel in stride(from: 0, to: bitmap.byteCount, by: 4) {
                        let raise = Self.luminance(after, pixel) - Self.luminance(before, pixel)
                        let alpha = Int(before[pixel + 3])
                        // Colours are multiplied with alpha, which is their limit.
                        for channel in pixel..<pixel + 3 {
                            output[channel] = UInt8(
                                min(max((Int(before[channel]) * 1000 + raise + 500) / 1000, 0), alpha))
                        }
                        output[pixel + 3] = before[pixel + 3]
                    }
                }
            }
        }
        return image.replacing(result)
    }

    /// In thousandths.
    private static func luminance(_ pixels: UnsafeRawBufferPointer, _ pixel: Int) -> Int {
        114 * Int(pixels[pixel]) + 587 * Int(pixels[pixel + 1]) + 299 * Int(pixels[pixel + 2])
    }
}
