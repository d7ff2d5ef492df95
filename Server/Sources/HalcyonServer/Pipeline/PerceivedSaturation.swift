import Halcyon

/// thumbor's `saturation`: the distance of each channel from the perceived brightness, sqrt(0.299 r² + 0.587 g² + 0.114 b²) as in the HSP
/// model of colours by D. R. Finley, times a factor. Brightness stays about the same; below 0 colours turn to their complements.
struct PerceivedSaturation: ImageProcessor {
    let factor: Double

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.saturation", version: 1)
        key.encode(factor)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let (bitmap, factor) = (image.bitmap, Float(factor))
        let result = try Bitmap(size: image.size, isOpaque: bitmap.isOpaque) { output in
            try bitmap.withPixels { pixels in
                for row in 0..<bitmap.height {
                    if row % 64 == 0 { try context.checkCancellation() }
                    for x in 0..<bitmap.width {
                        let (source, target) = (row * bitmap.bytesPerRow + x * 4, (row * bitmap.width + x) * 4)
                        let (blue, green, red) = (
                            Float(pixels[source]), Float(pixels[source + 1]), Float(pixels[source + 2])
                        )
                        // The formula holds as well for colours that are multiplied with alpha, which is their limit.
                        let brightness = (0.299 * red * red + 0.587 * green * green + 0.114 * blue * blue).squareRoot()
                        let alpha = pixels[source + 3]
                        func changed(_ value: Float) -> UInt8 {
                            UInt8(min(max(brightness + (value - brightness) * factor, 0), Float(alpha)).rounded())
                        }
                        output[target] = changed(blue)
                        output[target + 1] = changed(green)
                        output[target + 2] = changed(red)
                        output[target + 3] = alpha
                    }
                }
            }
        }
        return image.replacing(result)
    }
}
