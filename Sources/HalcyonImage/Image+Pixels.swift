import CHalcyonPixels
import Foundation

extension Image {
    /// Creates an image from a program's own sRGB pixels; `info.format` is `.bitmap`.
    ///
    /// Colours above their alpha in a premultiplied layout are lowered to it, since no such colour exists.
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

    /// Returns a copy of the pixels in a layout of other programs, rows from top to bottom without padding: a row is
    /// `width * layout.bytesPerPixel` bytes. Of an animation these are the pixels of its first frame.
    ///
    /// Layouts without alpha have the colours that the image shows over white, and `.gray` their luminance by ITU-R BT.709.
    /// An image that is made of straight (not premultiplied) pixels by `init(width:height:pixels:layout:)` is this one
    /// again. The values are sRGB unless the image has a `colorProfile`.
    ///
    /// Cost: one pass over the pixels on the calling thread, and `width * height * layout.bytesPerPixel` bytes.
    /// `withPixels(_:)` reads a bitmap's own layout without a copy.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    public func pixels(layout: PixelLayout) throws -> Data {
        let count = width * height * layout.bytesPerPixel
        guard let bytes = malloc(count) else { throw BitmapError.outOfMemory(bytes: count) }
        bitmap.copyPixels(0..<width * height, layout: layout, to: bytes)
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
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
        func lowered(_ channel: Int) -> UInt8 { min(pixels[offset + channel], pixels[offset + 3]) }
        func multiplied(_ channel: Int) -> UInt8 {
            UInt8((Int(pixels[offset + channel]) * Int(pixels[offset + 3]) + 127) / 255)
        }
        switch layout {
        case .bgraPremultiplied: return (lowered(0), lowered(1), lowered(2), pixels[offset + 3])
        case .rgbaPremultiplied: return (lowered(2), lowered(1), lowered(0), pixels[offset + 3])
        case .bgra: return (multiplied(0), multiplied(1), multiplied(2), pixels[offset + 3])
        case .rgba: return (multiplied(2), multiplied(1), multiplied(0), pixels[offset + 3])
        case .rgb:
            return (pixels[offset + 2], pixels[offset + 1], pixels[offset], 255)
        case .gray:
            return (pixels[offset], pixels[offset], pixels[offset], 255)
        }
    }
}

extension Bitmap {
    /// Copies a range of the pixels, counted from the top left row by row, in another layout.
    ///
    /// - Parameter target: room for `range.count * layout.bytesPerPixel` bytes.
    package func copyPixels(_ range: Range<Int>, layout: PixelLayout, to target: UnsafeMutableRawPointer) {
        withPixels { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            halcyon_convert(
                base + range.lowerBound * 4, range.count, layout.kernel, target.assumingMemoryBound(to: UInt8.self))
        }
    }
}

/// The memory layout of a program's own pixels, 8 bits a channel and rows from top to bottom without padding.
public enum PixelLayout: Hashable, Sendable, CaseIterable {
    /// Blue, green, red, alpha, the colours premultiplied by alpha: the layout of `Bitmap`, which needs no conversion.
    case bgraPremultiplied
    /// Red, green, blue, alpha, the colours premultiplied by alpha.
    case rgbaPremultiplied
    /// Blue, green, red, alpha, the colours straight, which is not premultiplied.
    case bgra
    /// Red, green, blue, alpha, the colours straight, which is not premultiplied.
    case rgba
    /// Red, green, blue, always opaque.
    case rgb
    /// Grey, always opaque.
    case gray

    /// The number of bytes of one pixel: 4, 3 or 1.
    public var bytesPerPixel: Int {
        switch self {
        case .bgraPremultiplied, .rgbaPremultiplied, .bgra, .rgba: 4
        case .rgb: 3
        case .gray: 1
        }
    }

    fileprivate var kernel: halcyon_layout {
        switch self {
        case .bgraPremultiplied: HALCYON_LAYOUT_BGRA_PREMULTIPLIED
        case .rgbaPremultiplied: HALCYON_LAYOUT_RGBA_PREMULTIPLIED
        case .bgra: HALCYON_LAYOUT_BGRA
        case .rgba: HALCYON_LAYOUT_RGBA
        case .rgb: HALCYON_LAYOUT_RGB
        case .gray: HALCYON_LAYOUT_GRAY
        }
    }
}
