import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// Encodings whose quality is found by a score.
@Suite struct QualityTargetTests {
    /// An encoder that counts its files, and has another one make them.
    struct CountingEncoder: ImageEncoder {
        let encoder: any ImageEncoder
        let counted = Counted()

        final class Counted: Sendable {
            private let state = Lock<[Double]>([])
            var qualities: [Double] { state.withLock { $0 } }
            func add(_ quality: Double) { state.withLock { $0.append(quality) } }
        }

        var formats: [ImageFormat] { encoder.formats }
        func canEncode(_ format: ImageFormat) -> Bool { encoder.canEncode(format) }
        func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool {
            encoder.isLossy(format, options: options)
        }
        func writesMetadata(_ format: ImageFormat) -> Bool { encoder.writesMetadata(format) }

        func encode(
            _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
        ) throws -> Data {
            counted.add(options.quality)
            return try encoder.encode(image, as: format, options: options, context: context)
        }
    }

    private static let formats: [ImageFormat] = [.jpeg, .webp, .avif, .jpegXL]

    /// Returns a registry whose encoder of a format counts.
    private func counting(_ format: ImageFormat) throws -> (CoderRegistry, CountingEncoder.Counted) {
        let registry = CoderRegistry.standard()
        let encoder = CountingEncoder(encoder: try #require(registry.encoder(for: format)))
        registry.add(encoder)
        return (registry, encoder.counted)
    }

    private func score(
        _ file: Data, _ image: Image, _ registry: CoderRegistry, options: DecodeOptions = DecodeOptions()
    ) throws -> Double {
        try #require(try registry.decode(file, options: options).bitmap.similarity(to: image.bitmap))
    }

    /// A scene of soft hills and grain, by chance that is the same in every run.
    private func scene(_ seed: UInt64, _ size: PixelSize = PixelSize(208, 160), hasAlpha: Bool = false) throws -> Image
    {
        var random = FixedGenerator(state: seed)
        let waves = (0..<9).map { _ in (0..<5).map { _ in Double.random(in: -1...1, using: &random) } }
        let grain = Double.random(in: 0...14, using: &random)
        let bitmap = try Bitmap(size: size, isOpaque: !hasAlpha) { output in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (u, v) = (Double(x) / Double(size.width), Double(y) / Double(size.height))
                    let noise = Double.random(in: -grain...grain, using: &random)
                    let alpha = hasAlpha ? min(1, max(0, 1.4 - 2 * v)) : 1
                    for channel in 0..<3 {
                        var value = 128 + noise
                        for (index, wave) in waves.enumerated() {
                            let phase = (wave[0] * u + wave[1] * v) * Double(4 + index * 9) + wave[2 + channel % 2] * 3
                            value += sin(phase) * wave[2 + channel] * 60 / Double(1 + index)
                        }
                        output[(y * size.width + x) * 4 + channel] = UInt8((min(255, max(0, value)) * alpha).rounded())
                    }
                    output[(y * size.width + x) * 4 + 3] = UInt8((alpha * 255).rounded())
                }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size))
    }

    /// Grain that a format drops at once below some quality is what four encodes may not be enough for.
    @Test func nineteenOfTwentyScoresAreMetWithFourEncodes() throws {
        var differences: [Double] = []
        for format in Self.formats {
            let (registry, counted) = try counting(format)
            for target in [70.0, 80, 88] {
                for seed in 1...4 {
                    let image = try scene(UInt64(seed))
                    let before = counted.qualities.count
                    let file = try registry.encode(
                        image, as: format, options: EncodeOptions(qualityTarget: QualityTarget(score: target)))
                    #expect((1...4).contains(counted.qualities.count - before))
                    differences.append(abs(try score(file, image, registry) - target))
                }
            }
        }
        let near = differences.count { $0 <= 1.5 }
        #expect(near * 20 >= differences.count * 19, "\(near) of \(differences.count)")
        #expect(differences.allSatisfy { $0 < 5 }, "\(differences)")
    }

    @Test func theFileIsThatOfTheNearestQuality() throws {
        let (registry, counted) = try counting(.jpeg)
        let image = try scene(9)
        let options = EncodeOptions(qualityTarget: QualityTarget(score: 83, tolerance: 0))
        let file = try registry.encode(image, as: .jpeg, options: options)
        let tried = try counted.qualities.map { quality in
            try registry.encode(image, as: .jpeg, options: EncodeOptions(quality: quality))
        }
        let distances = try tried.map { abs(try score($0, image, registry) - 83) }
        #expect(tried.firstIndex(of: file) == distances.firstIndex(of: distances.min() ?? 0))
        #expect(Set(counted.qualities.prefix(tried.count)).count == tried.count)
        // The same image has the same file.
        #expect(try registry.encode(image, as: .jpeg, options: options) == file)
    }

    @Test(arguments: formats) func theBoundsHold(_ format: ImageFormat) throws {
        let (registry, counted) = try counting(format)
        let image = try scene(3)
        for (target, bounds) in [(100.0, 0.2...0.4), (0, 0.725...0.725), (95, 0.1...0.301), (1, 0.5...0.9)] {
            let before = counted.qualities.count
            _ = try registry.encode(
                image, as: format,
                options: EncodeOptions(qualityTarget: QualityTarget(score: target, qualities: bounds)))
            let tried = counted.qualities.dropFirst(before)
            #expect(tried.allSatisfy(bounds.contains) && tried.count <= 4, "\(tried)")
            // The best, or the least: nothing else comes nearer.
            let end = target > 90 ? bounds.upperBound : bounds.lowerBound
            #expect(tried.contains(end), "\(tried)")
        }
    }

    @Test func aPictureThatIsEqualAtAnyQualityHasItsSmallestFile() throws {
        let white = try Image(width: 64, height: 64, pixels: [UInt8](repeating: 255, count: 64 * 64 * 4))
        let (registry, counted) = try counting(.webp)
        let file = try registry.encode(
            white, as: .webp, options: EncodeOptions(qualityTarget: QualityTarget(score: 50)))
        #expect(try registry.decode(file).bitmap.similarity(to: white.bitmap) == 100)
        let tried = try counted.qualities.map {
            try registry.encode(white, as: .webp, options: EncodeOptions(quality: $0)).count
        }
        #expect(tried.count <= 4 && tried.min() == file.count)
        #expect(counted.qualities.contains(0))
    }

    @Test func whatIsLosslessHasNoScoreToFind() throws {
        let image = try scene(4)
        for (format, isLossless) in [(ImageFormat.png, false), (.gif, false), (.webp, true), (.avif, true)] {
            let (registry, counted) = try counting(format)
            let plain = try registry.encode(image, as: format, options: EncodeOptions(isLossless: isLossless))
            let options = EncodeOptions(isLossless: isLossless, qualityTarget: QualityTarget(score: 20))
            #expect(try registry.encode(image, as: format, options: options) == plain)
            #expect(counted.qualities.count == 2)
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp]) func numbersThatMakeNoSense(_ format: ImageFormat) throws {
        let registry = CoderRegistry.standard()
        let image = try scene(1, PixelSize(16, 16))
        for (target, reason) in [
            (QualityTarget(score: -0.1), "a score is from 0 to 100, and not -0.1"),
            (QualityTarget(score: 100.5), "and not 100.5"), (QualityTarget(score: .nan), "and not nan"),
            (QualityTarget(score: .infinity), "and not inf"),
            (QualityTarget(score: 80, qualities: -0.1...1), "from -0.1 to 1.0"),
            (QualityTarget(score: 80, qualities: 0...85), "from 0.0 to 85.0"),
            (QualityTarget(score: 80, qualities: 0...(.infinity)), "from 0.0 to inf"),
            (QualityTarget(score: 80, tolerance: -1), "a tolerance is 0 or more, and not -1.0"),
            (QualityTarget(score: 80, tolerance: .nan), "and not nan"),
        ] {
            #expect {
                try registry.encode(image, as: format, options: EncodeOptions(qualityTarget: target))
            } throws: {
                guard case CodecError.encodingFailed(format, let text) = $0 else { return false }
                return text.contains(reason)
            }
            #expect(target == target && target.hashValue == target.hashValue)
        }
    }

    @Test func aTargetIsPartOfTheOptions() {
        let one = EncodeOptions(qualityTarget: QualityTarget(score: 80))
        #expect(one != EncodeOptions())
        for other in [
            QualityTarget(score: 81), QualityTarget(score: 80, qualities: 0...0.9),
            QualityTarget(score: 80, qualities: 0.1...1), QualityTarget(score: 80, tolerance: 0.5),
        ] {
            #expect(EncodeOptions(qualityTarget: other) != one)
            var (left, right) = (KeyEncoder(), KeyEncoder())
            one.encode(into: &left)
            EncodeOptions(qualityTarget: other).encode(into: &right)
            #expect(left.bytes != right.bytes)
        }
    }

    @Test(arguments: [ImageFormat.webp, .avif, .jpegXL, .jpeg]) func transparencyCounts(_ format: ImageFormat) throws {
        let registry = CoderRegistry.standard()
        let image = try scene(5, hasAlpha: true)
        let background = EncodeOptions.Background(red: 30, green: 90, blue: 160)
        let options = EncodeOptions(background: background, qualityTarget: QualityTarget(score: 80))
        let file = try registry.encode(image, as: format, options: options)
        var expected = image
        if format == .jpeg {
            expected = try registry.decode(
                registry.encode(image, as: .jpeg, options: EncodeOptions(quality: 1, background: background)))
        }
        #expect(abs(try score(file, expected, registry) - 80) <= 1.7)
    }

    @Test(arguments: formats, [1, 3, 6, 8]) func theOrientationIsKept(
        _ format: ImageFormat, _ orientation: Int
    ) throws {
        let registry = CoderRegistry.standard()
        let image = try registry.decode(Fixture.read("jpeg/orientation-\(orientation).jpg"))
        let options = EncodeOptions(keepsOrientation: true, qualityTarget: QualityTarget(score: 75))
        let file = try registry.encode(image, as: format, options: options)
        #expect(try registry.probe(file).orientation.rawValue == orientation)
        // A small picture, whose score changes in large steps. One that is turned otherwise has less than 30.
        #expect(abs(try score(file, image, registry) - 75) <= 8)
    }

    @Test(arguments: formats) func theProfileIsKept(_ format: ImageFormat) throws {
        let registry = CoderRegistry.standard()
        let stored = DecodeOptions(color: .asStored)
        let image = try registry.decode(Fixture.read("color/p3.jpg"), options: stored)
        let file = try registry.encode(
            image, as: format, options: EncodeOptions(qualityTarget: QualityTarget(score: 85)))
        // libjxl writes the profile, and gives the colours of a lossy file in another one.
        if format != .jpegXL {
            #expect(try registry.decode(file, options: stored).colorProfile == image.colorProfile)
        }
        let converted = try registry.decode(Fixture.read("color/p3.jpg"))
        #expect(abs(try score(file, converted, registry) - 85) <= 5)
    }

    @Test func anAnimationHasTheQualityOfItsFirstFrame() throws {
        let registry = CoderRegistry.standard()
        let animation = try registry.decode(Fixture.read("gif/animated.gif"))
        let still = animation.replacing(animation.bitmap)
        let target = QualityTarget(score: 85)
        let found = try registry.found(still, as: .webp, options: EncodeOptions(qualityTarget: target))
        let file = try registry.encode(animation, as: .webp, options: EncodeOptions(qualityTarget: target))
        let quality = try #require(found.search?.quality)
        #expect(try file == registry.encode(animation, as: .webp, options: EncodeOptions(quality: quality)))
        #expect(try registry.decode(file).animation?.frameCount == animation.animation?.frameCount)
    }

    @Test func aLimitOfBytesCountsMore() throws {
        let registry = CoderRegistry.standard()
        let image = try scene(6)
        let target = QualityTarget(score: 88)
        let free = try registry.encode(image, as: .jpeg, options: EncodeOptions(qualityTarget: target)).count
        let roomy = EncodeOptions(maximumBytes: free, qualityTarget: target)
        #expect(try registry.encode(image, as: .jpeg, options: roomy).count == free)
        let limited = try registry.encode(
            image, as: .jpeg, options: EncodeOptions(maximumBytes: free / 2, qualityTarget: target))
        #expect(limited.count <= free / 2 && limited.count > free / 3)
        #expect(throws: CodecError.self) {
            try registry.encode(image, as: .jpeg, options: EncodeOptions(maximumBytes: 100, qualityTarget: target))
        }
    }

    @Test func deepPixelsHaveNoScore() throws {
        let registry = CoderRegistry.standard()
        let image = try registry.decode(
            Fixture.read("deep/rgb.png"), options: DecodeOptions(depth: DeepBitmap.Format(.uint16, colorSpace: .sRGB)))
        let target = QualityTarget(score: 80)
        #expect(throws: CodecError.self) {
            try registry.encode(
                image, as: .avif, options: EncodeOptions(bitsPerChannel: 10, qualityTarget: target))
        }
        // WebP has 8 bits whatever is asked for, and PNG loses nothing.
        for format in [ImageFormat.webp, .png] {
            let options = EncodeOptions(bitsPerChannel: 10, qualityTarget: target)
            #expect(try registry.probe(registry.encode(image, as: format, options: options)).size == image.size)
        }
    }

    @Test func aFormatThatNothingDecodesHasNoScore() throws {
        let encoder = try #require(CoderRegistry.standard().encoder(for: .webp))
        let registry = CoderRegistry([CountingEncoder(encoder: encoder)])
        #expect {
            try registry.encode(
                try scene(1), as: .webp, options: EncodeOptions(qualityTarget: QualityTarget(score: 80)))
        } throws: {
            guard case CodecError.encodingFailed(.webp, let reason) = $0 else { return false }
            return reason.contains("nothing decodes it")
        }
    }

    @Test func aSmallBudgetIsEnough() throws {
        let registry = CoderRegistry.standard(budget: DecodeBudget(capacity: 1000))
        let options = EncodeOptions(qualityTarget: QualityTarget(score: 80))
        #expect(try !registry.encode(try scene(2), as: .jpeg, options: options).isEmpty)
        #expect(registry.budget.available == 1000)
    }

    @Test(arguments: formats) func aCancelledSearchEnds(_ format: ImageFormat) throws {
        let registry = CoderRegistry.standard()
        let image = try scene(7, PixelSize(96, 400))
        let options = EncodeOptions(qualityTarget: QualityTarget(score: 80, tolerance: 0))
        try expectCancellation(leastChecks: 100) { context in
            _ = try registry.encode(image, as: format, options: options, context: context)
        }
    }
}
