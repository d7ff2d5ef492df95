import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Every effort of every encoder writes the picture, and nothing of what memory held before.
@Suite struct EncoderEffortTests {
    private let registry = CoderRegistry.standard()

    private static let efforts: [Double?] = [nil, 0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1]
    private static let lossy = [ImageFormat.avif, .jpegXL, .webp, .jpeg, .heic]

    /// The contents of an animation.
    private enum Content: CaseIterable {
        /// A pattern whose squares take turns, and alpha that moves over it.
        case turns
        /// A square that moves before an opaque ramp, so that a part changes.
        case part

        var isOpaque: Bool { self == .part }

        func pixel(_ x: Int, _ y: Int, frame: Int, width: Int) -> [UInt8] {
            switch self {
            case .turns:
                let level: UInt8 = (x / 16 + y / 16 + frame) % 2 == 0 ? 220 : 30
                let distance = abs(x - (width / 4 + frame * width / 9) % width) + abs(y - 20)
                return [level, level, level, distance < width / 4 ? 255 : 100]
            case .part:
                let isInside = (20..<30).contains(x) && (8 + frame * 6..<17 + frame * 6).contains(y)
                return [UInt8(x * 2), UInt8(y * 3), isInside ? 120 : 255, 255]
            }
        }
    }

    private func image(_ content: Content, frames count: Int, width: Int, height: Int) throws -> Image {
        let frames = try (0..<count).map { number -> (image: Image, duration: Duration) in
            let pixels = (0..<height).flatMap { y in
                (0..<width).flatMap { content.pixel($0, y, frame: number, width: width) }
            }
            return (try Image(width: width, height: height, pixels: pixels, layout: .rgba), .milliseconds(50))
        }
        guard count > 1 else { return frames[0].image }
        var info = frames[0].image.info
        (info.frameCount, info.loopCount, info.hasAlpha) = (count, 0, !content.isOpaque)
        return Image(bitmap: frames[0].image.bitmap, info: info, animation: try AnimatedImage(frames: frames))
    }

    /// The frames that come of an encode with memory of this filling.
    private func frames(_ image: Image, as format: ImageFormat, _ options: EncodeOptions, filling: Int32) throws
        -> [[UInt8]]
    {
        Self.fillMemory(filling)
        defer { Self.fillMemory(0) }
        return try Self.frames(registry.decode(registry.encode(image, as: format, options: options)))
    }

    /// Has the C library fill what it gives and takes back; 0 ends that. Sanitizers' own do not.
    private static func fillMemory(_ filling: Int32) {
        guard let mallopt = dlsym(nil, "mallopt") else { return }
        // M_PERTURB of malloc.h, which Swift's module of the C library leaves out.
        _ = unsafeBitCast(mallopt, to: (@convention(c) (Int32, Int32) -> Int32).self)(-6, filling)
    }

    private static func frames(_ image: Image) throws -> [[UInt8]] {
        guard let animation = image.animation else { return [image.bitmap.bytes] }
        return try (0..<animation.frameCount).map { try animation.frame(at: $0).bytes }
    }

    /// Checks that the frames of an encode are those of the image, whatever memory held.
    private func check(_ image: Image, as format: ImageFormat, _ options: EncodeOptions, _ most: Double) throws {
        let own = try Self.frames(image)
        let first = try frames(image, as: format, options, filling: 0x55)
        #expect(try first == frames(image, as: format, options, filling: 0xAA))
        try #require(first.count == own.count)
        for (index, pair) in zip(own, first).enumerated() {
            let sum = zip(pair.0, pair.1).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(sum) / Double(pair.0.count) <= most, "frame \(index)")
        }
    }

    @Test(arguments: [ImageFormat.avif, .jpegXL, .webp], efforts)
    func animationsKeepAllChanges(_ format: ImageFormat, _ effort: Double?) throws {
        for content in Content.allCases {
            let image = try image(content, frames: 4, width: 61, height: 44)
            for (quality, most) in [(0.5, 7.0), (0.9, 4), (0.98, 2), (1, 2)] {
                try check(image, as: format, EncodeOptions(quality: quality, effort: effort), most)
            }
            try check(image, as: format, EncodeOptions(isLossless: true, effort: effort), 0.02)
        }
    }

    @Test(arguments: [ImageFormat.png, .gif]) func animationsWithoutEffortKeepAllChanges(_ format: ImageFormat) throws {
        let image = try image(.part, frames: 4, width: 61, height: 44)
        try check(image, as: format, EncodeOptions(), format == .gif ? 4 : 0)
    }

    @Test(arguments: lossy, efforts) func stillsAreKept(_ format: ImageFormat, _ effort: Double?) throws {
        for content in Content.allCases where content.isOpaque || format != .jpeg {
            for size in [PixelSize(1, 1), PixelSize(8, 3), PixelSize(61, 44)] {
                let image = try image(content, frames: 1, width: size.width, height: size.height)
                for (quality, most) in [(0.5, 8.0), (0.95, 4)] {
                    // A few pixels have less weight with libjxl.
                    let most = size.width < 61 ? most * 4 : most
                    try check(image, as: format, EncodeOptions(quality: quality, effort: effort), most)
                }
            }
        }
    }
}
