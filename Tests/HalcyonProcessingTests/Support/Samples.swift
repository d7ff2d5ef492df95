import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

/// Blue, green, red, alpha.
typealias Pixel = [UInt8]

/// Noise: no two neighbours are alike, so that a pixel in the wrong place is seen. Premultiplied.
func noise(_ width: Int, _ height: Int, hasAlpha: Bool = true) throws -> Image {
    var state = UInt64(width * 7919 + height)
    func next() -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 56)
    }
    let pixels = (0..<width * height).flatMap { _ -> Pixel in
        let alpha = hasAlpha ? next() : 255
        return (0..<3).map { _ in UInt8(next() * alpha / 255) } + [UInt8(alpha)]
    }
    return try image(width, height, isOpaque: !hasAlpha, pixels)
}

/// One colour.
func flat(_ width: Int, _ height: Int, _ pixel: Pixel = [10, 120, 250, 255]) throws -> Image {
    let bitmap = try Bitmap(size: PixelSize(width, height), isOpaque: pixel[3] == 255) { output in
        for index in output.indices { output[index] = pixel[index & 3] }
    }
    return image(bitmap)
}

func image(_ width: Int, _ height: Int, isOpaque: Bool = true, _ pixels: [UInt8]) throws -> Image {
    image(try Bitmap(size: PixelSize(width, height), isOpaque: isOpaque, pixels: pixels))
}

/// Returns an image with properties that are not defaults, so that a loss is seen.
private func image(_ bitmap: Bitmap) -> Image {
    Image(
        bitmap: bitmap,
        info: ImageInfo(
            format: .webp, size: PixelSize(bitmap.width * 2, bitmap.height * 2), frameCount: 3, loopCount: 2,
            hasAlpha: true, bitsPerChannel: 16, orientation: .left, colorSpace: .gray))
}

extension Image {
    /// The pixel at a place that is inside.
    subscript(x: Int, y: Int) -> Pixel {
        guard let pixel = bitmap.pixel(x: x, y: y) else { return [] }
        return [pixel.blue, pixel.green, pixel.red, pixel.alpha]
    }

    var bytes: [UInt8] { bitmap.withPixels { [UInt8]($0) } }

    func processed(by processor: some ImageProcessor) throws -> Image {
        try processor.process(self, context: .uncancellable)
    }
}

/// Expects every pixel to equal the reference's, within a tolerance.
func expect(
    _ image: Image, _ size: PixelSize, within tolerance: Int = 0, at place: SourceLocation = #_sourceLocation,
    _ reference: (Int, Int) -> Pixel
) throws {
    try #require(image.size == size, sourceLocation: place)
    var worst = (difference: 0, x: 0, y: 0)
    for y in 0..<size.height {
        for x in 0..<size.width {
            for (one, other) in zip(image[x, y], reference(x, y)) where abs(Int(one) - Int(other)) > worst.difference {
                worst = (abs(Int(one) - Int(other)), x, y)
            }
        }
    }
    #expect(worst.difference <= tolerance, "at \(worst.x),\(worst.y)", sourceLocation: place)
}

/// Whether no colour exceeds its alpha.
func isPremultiplied(_ image: Image) -> Bool {
    let bytes = image.bytes
    return stride(from: 0, to: bytes.count, by: 4).allSatisfy { offset in
        (0..<3).allSatisfy { bytes[offset + $0] <= bytes[offset + 3] }
    }
}

func expectInvalidArgument(
    _ processor: some ImageProcessor, _ image: Image, at place: SourceLocation = #_sourceLocation
) {
    #expect("\(processor)", sourceLocation: place) {
        try image.processed(by: processor)
    } throws: { error in
        guard case .invalidArgument? = error as? ProcessingError else { return false }
        return !"\(error)".isEmpty
    }
}

func expectNotApplicable(
    _ processor: some ImageProcessor, _ image: Image, at place: SourceLocation = #_sourceLocation
) {
    #expect("\(processor)", sourceLocation: place) {
        try image.processed(by: processor)
    } throws: { error in
        guard case .notApplicable? = error as? ProcessingError else { return false }
        return !"\(error)".isEmpty
    }
}
