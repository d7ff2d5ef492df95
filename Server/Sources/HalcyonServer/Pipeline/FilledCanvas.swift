import Halcyon
import ImageURLs

/// thumbor's `fill`: a canvas of a size with the picture in its middle, which is cut where it is longer.
struct FilledCanvas: ImageProcessor {
    let fill: ImageJob.Fill
    let size: PixelSize
    /// Whether the content of the canvas is also behind what is transparent in the picture.
    let isBehind: Bool

    /// The standard deviation of the blur, in pixels, at which its curve also ends.
    private static let sigma = 50

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.fill", version: 1)
        switch fill {
        case .color(let color):
            for channel in [color.red, color.green, color.blue] { key.encode(Int(channel)) }
        case .transparent: key.encode(-1)
        case .mean: key.encode(-2)
        case .blurred: key.encode(-3)
        }
        key.encode(size)
        key.encode(isBehind)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let ground = try ground(of: image, context: context)
        // The edges of the picture on the canvas, which Python rounds down.
        let x = Self.half(size.width - image.width), y = Self.half(size.height - image.height)
        let left = max(0, -x), top = max(0, -y)
        let visible = PixelRect(
            x: left, y: top, width: min(image.width - left, size.width), height: min(image.height - top, size.height))
        let part = visible.size == image.size ? image : try image.processed(by: [.crop(visible)])
        if isBehind {
            let canvas = image.replacing(ground)
            func anchor(_ place: Int, _ room: Int) -> Double { room > 0 ? Double(max(0, place)) / Double(room) : 0 }
            let over: any ImageProcessor = .watermark(
                part, anchorX: anchor(x, size.width - part.width), anchorY: anchor(y, size.height - part.height))
            return try over.process(canvas, context: context)
        }
        return image.replacing(try replacing(in: ground, x: max(0, x), y: max(0, y), by: part.bitmap))
    }

    private static func half(_ room: Int) -> Int { room >> 1 }

    /// Returns the canvas without the picture.
    private func ground(of image: Image, context: WorkContext) throws -> Bitmap {
        if fill == .blurred {
            let radius = GaussCut.deviation(of: Double(Self.sigma), endingAt: Self.sigma)
            return try image.processed(by: [
                .blur(radius: radius), .resize(to: size, mode: .stretch, upscale: true),
            ]).bitmap
        }
        let color: [UInt8] =
            switch fill {
            case .color(let color): [color.blue, color.green, color.red, 255]
            case .mean: Self.mean(of: image.bitmap) + [255]
            case .transparent, .blurred: [0, 0, 0, 0]
            }
        let packed = color.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return try Bitmap(size: size, isOpaque: packed >> 24 == 255) { pixels in
            pixels.initializeMemory(as: UInt32.self, repeating: packed)
        }
    }

    /// Returns the mean of blue, green and red, those of transparent pixels included.
    private static func mean(of bitmap: Bitmap) -> [UInt8] {
        var sums = [0, 0, 0]
        bitmap.withPixels { pixels in
            for y in 0..<bitmap.height {
                for pixel in stride(from: y * bitmap.bytesPerRow, to: y * bitmap.bytesPerRow + bitmap.width * 4, by: 4)
                {
                    let alpha = Int(pixels[pixel + 3])
                    guard alpha > 0 else { continue }
                    for channel in 0..<3 {
                        let value = Int(pixels[pixel + channel])
                        sums[channel] += alpha == 255 ? value : min(255, (value * 255 + alpha / 2) / alpha)
                    }
                }
            }
        }
        return sums.map { UInt8($0 / max(1, bitmap.width * bitmap.height)) }
    }

    /// Returns the canvas with a part that has the pixels of the picture, transparent ones included.
    private func replacing(in ground: Bitmap, x: Int, y: Int, by part: Bitmap) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: ground.isOpaque && part.isOpaque) { output in
            let width = size.width * 4
            ground.withPixels { pixels in
                for row in 0..<size.height {
                    UnsafeMutableRawBufferPointer(rebasing: output[row * width..<(row + 1) * width]).copyMemory(
                        from: UnsafeRawBufferPointer(
                            rebasing: pixels[row * ground.bytesPerRow..<row * ground.bytesPerRow + width]))
                }
            }
            part.withPixels { pixels in
                for row in 0..<part.height {
                    let start = (y + row) * width + x * 4
                    UnsafeMutableRawBufferPointer(rebasing: output[start..<start + part.width * 4]).copyMemory(
                        from: UnsafeRawBufferPointer(
                            rebasing: pixels[row * part.bytesPerRow..<row * part.bytesPerRow + part.width * 4]))
                }
            }
        }
    }
}
