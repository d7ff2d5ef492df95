extension Image {
    /// Creates an image from a program's own sRGB pixels; `info.format` is `.bitmap`.
    ///
    /// Colours above their alpha in `.bgraPremultiplied` are lowered to it, since no such colour exists.
    ///
    /// - Parameters:
    ///   - width: the width in pixels, as `height` is the height.
    ///   - pixels: exactly `width * height * layout.bytesPerPixel` bytes.
    /// - Throws: `BitmapError.invalidSize` if the count or a side is wrong; `.outOfMemory`.
    public init(
        width: Int, height: Int, pixels: some Collection<UInt8>, layout: PixelLayout = .bgraPremultiplied
    ) throws {
        let size = PixelSize(width, height)
        guard width > 0, height > 0, let area = size.area,
            area.multipliedReportingOverflow(by: layout.bytesPerPixel) == (pixels.count, false)
        else { throw BitmapError.invalidSize(size) }
        let bitmap = try pixels.withContiguousStorageIfAvailable { try Self.bitmap(size, $0, layout) }
        self.init(
            bitmap: try bitmap ?? Array(pixels).withUnsafeBufferPointer { try Self.bitmap(size, $0, layout) },
            size: size)
    }

    private init(bitmap: Bitmap, size: PixelSize) {
        self.init(bitmap: bitmap, info: ImageInfo(format: .bitmap, size: size, hasAlpha: !bitmap.isOpaque))
    }

    /// Calls `body` with the pixels in place: blue, green, red, alpha, premultiplied, `width * 4` bytes a row.
    public func withPixels<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bitmap.withPixels(body)
    }

    private static func bitmap(
        _ size: PixelSize, _ pixels: UnsafeBufferPointer<UInt8>, _ layout: PixelLayout
    ) throws -> Bitmap {
        let step = layout.bytesPerPixel
        let isOpaque = step < 4 || stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
        return try Bitmap(size: size, isOpaque: isOpaque) { bytes in
            for pixel in 0..<bytes.count / 4 {
                let color = color(pixels, at: pixel * step, layout)
                let target = pixel * 4
                (bytes[target], bytes[target + 1], bytes[target + 2], bytes[target + 3]) = color
            }
        }
    }

    private static func color(
        _ pixels: UnsafeBufferPointer<UInt8>, at offset: Int, _ layout: PixelLayout
    ) -> (UInt8, UInt8, UInt8, UInt8) {
        switch layout {
        case .bgraPremultiplied:
            let alpha = pixels[offset + 3]
            return (
                min(pixels[offset], alpha), min(pixels[offset + 1], alpha), min(pixels[offset + 2], alpha), alpha
            )
        case .rgba:
            let alpha = Int(pixels[offset + 3])
            func multiplied(_ channel: Int) -> UInt8 { UInt8((Int(pixels[offset + channel]) * alpha + 127) / 255) }
            return (multiplied(2), multiplied(1), multiplied(0), UInt8(alpha))
        case .rgb:
            return (pixels[offset + 2], pixels[offset + 1], pixels[offset], 255)
        case .gray:
            return (pixels[offset], pixels[offset], pixels[offset], 255)
        }
    }
}

/// The memory layout of a program's own pixels, 8 bits a channel and rows from top to bottom without padding.
public enum PixelLayout: Hashable, Sendable, CaseIterable {
    /// Blue, green, red, alpha, the colours premultiplied by alpha: the layout of `Bitmap`, which needs no conversion.
    case bgraPremultiplied
    /// Red, green, blue, alpha, the colours not premultiplied.
    case rgba
    /// Red, green, blue, always opaque.
    case rgb
    /// Grey, always opaque.
    case gray

    /// The number of bytes of one pixel: 4, 3 or 1.
    public var bytesPerPixel: Int {
        switch self {
        case .bgraPremultiplied, .rgba: 4
        case .rgb: 3
        case .gray: 1
        }
    }
}
