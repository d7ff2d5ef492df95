import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

/// The crop whose place is found by saliency.
@Suite struct SmartCropTests {
    /// A ground that a subject stands on.
    enum Ground: CaseIterable {
        case sky, grass, wall, tiles

        /// - Parameter noise: from -1 to 1.
        func color(_ x: Int, _ y: Int, height: Int, noise: Double) -> Color {
            let fall = Double(y) / Double(height)
            return switch self {
            case .sky: Color(red: 0.35 + 0.2 * fall, green: 0.55 + 0.2 * fall, blue: 0.85)
            case .grass: Color(red: 0.24 + 0.12 * noise, green: 0.43 + 0.12 * noise, blue: 0.2 + 0.12 * noise)
            case .wall: Color(white: 0.78 + 0.02 * noise)
            case .tiles: Color(white: (x / 9 + y / 9) % 2 == 0 ? 0.35 : 0.6)
            }
        }
    }

    enum Subject: CaseIterable {
        case face, red, dark, yellow

        /// - Parameters: the place in the ellipse, -1 to 1.
        func color(_ x: Double, _ y: Double) -> Color {
            switch self {
            case .face:
                let isEye = abs(abs(x) - 0.38) < 0.12 && abs(y + 0.25) < 0.1
                let isMouth = abs(x) < 0.38 && abs(y - 0.45) < 0.06
                if isEye { return Color(red: 0.2, green: 0.12, blue: 0.1) }
                return isMouth
                    ? Color(red: 0.63, green: 0.24, blue: 0.24) : Color(red: 0.88, green: 0.67, blue: 0.55)
            case .red: return Color(red: 0.86, green: 0.12, blue: 0.12)
            case .dark: return Color(white: 0.08)
            case .yellow: return Color(red: 0.96, green: 0.86, blue: 0.12)
            }
        }
    }

    /// A scene with an elliptic subject in a box.
    private static func scene(
        _ ground: Ground, _ subject: Subject, _ size: PixelSize, in box: PixelRect
    ) throws -> Image {
        var state: UInt32 = 1
        return try picture(size.width, size.height) { x, y in
            state = state &* 1_664_525 &+ 1_013_904_223
            let across = (Double(x - box.x) + 0.5) / Double(box.size.width) * 2 - 1
            let down = (Double(y - box.y) + 0.5) / Double(box.size.height) * 2 - 1
            return across * across + down * down < 1
                ? subject.color(across, down)
                : ground.color(x, y, height: size.height, noise: Double(state >> 8) / Double(1 << 23) - 1)
        }
    }

    /// The rectangle that a processor keeps, found by the places that the pixels of a second picture hold.
    private static func window(_ processor: CropProcessor, _ image: Image) throws -> PixelRect {
        let result = try image.processed(by: processor)
        let (source, kept) = (image.bitmap, result.bitmap)
        for y in 0...(source.height - kept.height) {
            for x in 0...(source.width - kept.width) {
                let rect = PixelRect(x: x, y: y, width: kept.width, height: kept.height)
                // A corner and the middle first, since most places differ there.
                guard isPixel(kept, 0, 0, source, x, y),
                    isPixel(kept, kept.width / 2, kept.height / 2, source, x + kept.width / 2, y + kept.height / 2)
                else { continue }
                if try source.cropped(to: rect).withPixels({ one in kept.withPixels { one.elementsEqual($0) } }) {
                    return rect
                }
            }
        }
        throw CancellationError()
    }

    private static func isPixel(_ one: Bitmap, _ x: Int, _ y: Int, _ other: Bitmap, _ ox: Int, _ oy: Int) -> Bool {
        guard let left = one.pixel(x: x, y: y), let right = other.pixel(x: ox, y: oy) else { return false }
        return left == right
    }

    /// Wide and tall pictures, with the subject near either end.
    private static let scenes: [(size: PixelSize, box: PixelRect)] = [
        (PixelSize(320, 180), PixelRect(x: 10, y: 60, width: 48, height: 60)),
        (PixelSize(320, 180), PixelRect(x: 262, y: 20, width: 48, height: 60)),
        (PixelSize(150, 300), PixelRect(x: 20, y: 8, width: 40, height: 50)),
        (PixelSize(150, 300), PixelRect(x: 100, y: 240, width: 40, height: 50)),
    ]

    @Test(arguments: Ground.allCases, Subject.allCases)
    func aKnownSubjectIsInsideTheWindow(ground: Ground, subject: Subject) throws {
        for scene in Self.scenes {
            let image = try Self.scene(ground, subject, scene.size, in: scene.box)
            let side = min(scene.size.width, scene.size.height)
            for processor: CropProcessor in [
                .smartCrop(to: PixelSize(side, side)), .smartCrop(ratio: PixelSize(1, 1)),
            ] {
                let result = try image.processed(by: processor)
                #expect(result.size == PixelSize(side, side))
                // The subject's first and last columns and rows are in it, and with them all of it.
                let kept = try result.processed(by: .crop(PixelRect(x: 0, y: 0, width: side, height: side)))
                #expect(
                    Self.count(of: subject, in: kept) == Self.count(of: subject, in: image), "\(ground) \(scene.box)")
            }
        }
    }

    /// The pixels of a subject's main colour.
    private static func count(of subject: Subject, in image: Image) -> Int {
        let color = subject.color(0, 0)
        let channels = [color.blue, color.green, color.red].map { Int(($0 * 255).rounded()) }
        return image.bitmap.withPixels { bytes in
            stride(from: 0, to: bytes.count, by: 4).count { offset in
                (0..<3).allSatisfy { abs(Int(bytes[offset + $0]) - channels[$0]) <= 1 }
            }
        }
    }

    @Test func bothAxesFollowTheSubject() throws {
        let box = PixelRect(x: 230, y: 120, width: 40, height: 50)
        let image = try Self.scene(.grass, .red, PixelSize(320, 200), in: box)
        let rect = try Self.window(.smartCrop(to: PixelSize(80, 80)), image)
        #expect(rect.x <= box.x && rect.x + 80 >= box.x + 40)
        #expect(rect.y <= box.y && rect.y + 80 >= box.y + 50)
    }

    /// Whole numbers: the same on every machine.
    @Test func theWindowOfAKnownPictureIsAlwaysTheSame() throws {
        let image = try noise(300, 90, hasAlpha: false)
        #expect(try Self.window(.smartCrop(to: PixelSize(70, 90)), image) == Self.golden)
        #expect(try Self.window(.smartCrop(to: PixelSize(70, 90)), image) == Self.golden)
    }

    private static let golden = PixelRect(x: 60, y: 0, width: 70, height: 90)

    @Test func nothingSalientIsTheMiddle() throws {
        // A step of this green changes neither luma nor chroma of 8 bits; the columns are random, so that each place is another one.
        let bits: UInt64 = 0xB8E4_9A35_6C1D_F072
        let image = try picture(64, 20) { x, _ in
            Color(red: 101 / 255.0, green: Double(100 + (bits >> UInt64(x)) & 1) / 255, blue: 102 / 255.0)
        }
        let rect = try Self.window(.smartCrop(to: PixelSize(20, 20)), image)
        #expect(rect == PixelRect(x: 22, y: 0, width: 20, height: 20))
    }

    @Test func whatIsOpaqueIsKept() throws {
        let clear = try picture(101, 20, isOpaque: false) { x, _ in x == 0 ? .black : .clear }
        let result = try clear.processed(by: CropProcessor.smartCrop(to: PixelSize(21, 20)))
        #expect(result.bitmap.pixel(x: 0, y: 0)?.alpha == 255)
        let blank = try picture(101, 20, isOpaque: false) { _, _ in .clear }
        #expect(try blank.processed(by: CropProcessor.smartCrop(to: PixelSize(21, 20))).size == PixelSize(21, 20))
    }

    /// Colours below an alpha of zero would be salient, and cannot be seen.
    @Test func whatIsTransparentDoesNotCount() throws {
        let image = try picture(200, 50, isOpaque: false) { x, y in
            if (150..<180).contains(x), (10..<40).contains(y) { return Color(red: 1, green: 0, blue: 0) }
            return x < 100 ? .clear : Color(white: 0.5)
        }
        let rect = try Self.window(.smartCrop(to: PixelSize(50, 50)), image)
        #expect(rect.x <= 150 && rect.x + 50 >= 180)
    }

    @Test(arguments: [
        PixelSize(1, 1), PixelSize(1, 500), PixelSize(500, 1), PixelSize(30_000, 1), PixelSize(1, 30_000),
        PixelSize(129, 2), PixelSize(2, 129), PixelSize(4_096, 3),
    ])
    func everySizeHasAWindow(size: PixelSize) throws {
        let image = try noise(size.width, size.height)
        for side in [1, 2, 7, 128, 29_999, Int.max] {
            let asked = PixelSize(side, side)
            let kept = PixelSize(min(side, size.width), min(side, size.height))
            #expect(try image.processed(by: CropProcessor.smartCrop(to: asked)).size == kept)
            let ratio = try image.processed(by: CropProcessor.smartCrop(ratio: asked)).size
            #expect(ratio == PixelSize(min(size.width, size.height), min(size.width, size.height)))
            let thin = try image.processed(by: CropProcessor.smartCrop(ratio: PixelSize(side, 1))).size
            #expect(thin.width >= 1 && thin.height >= 1 && thin.width <= size.width && thin.height <= size.height)
        }
    }

    @Test func anEmptySizeIsAnError() throws {
        let image = try noise(4, 4)
        for size in [PixelSize(0, 3), PixelSize(3, -1), PixelSize(.min, .min)] {
            expectInvalidArgument(CropProcessor.smartCrop(to: size), image)
            expectInvalidArgument(CropProcessor.smartCrop(ratio: size), image)
        }
    }

    @Test func allFramesHaveTheWindowOfTheFirst() throws {
        let size = PixelSize(120, 40)
        let places = [PixelRect(x: 80, y: 8, width: 24, height: 24), PixelRect(x: 4, y: 8, width: 24, height: 24)]
        let frames = try places.map { try Self.scene(.wall, .red, size, in: $0).bitmap }
        let stills = frames.map { Image(bitmap: $0, info: ImageInfo(format: .gif, size: size)) }
        let animation = try AnimatedImage(frames: stills.map { ($0, .milliseconds(100)) })
        let image = Image(
            bitmap: frames[0], info: ImageInfo(format: .gif, size: size, frameCount: 2), animation: animation)
        let result = try image.processed(by: CropProcessor.smartCrop(to: PixelSize(40, 40)))
        let cut = try #require(result.animation)
        #expect(cut.frameCount == 2 && cut.size == PixelSize(40, 40))
        let first = try Self.window(.smartCrop(to: PixelSize(40, 40)), image.replacing(frames[0]))
        #expect(first.x <= 80 && first.x + 40 >= 104)
        for (index, frame) in frames.enumerated() {
            let expected = try frame.cropped(to: first)
            let found = try cut.frame(at: index)
            #expect(expected.withPixels { one in found.withPixels { one.elementsEqual($0) } })
        }
    }

    @Test func aCancelledCropEnds() throws {
        let context = WorkContext(isCancelled: { true })
        let image = try noise(300, 200)
        #expect(throws: CancellationError.self) {
            try CropProcessor.smartCrop(to: PixelSize(100, 100)).process(image, context: context)
        }
    }
}
