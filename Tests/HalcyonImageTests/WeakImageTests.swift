import HalcyonSystem
import Testing

@testable import HalcyonImage

@Suite struct WeakImageTests {
    private func bitmap() throws -> Bitmap {
        try Bitmap(size: PixelSize(2, 1), isOpaque: true, pixels: [UInt8](repeating: 255, count: 8))
    }

    /// Returns a weak reference, as the memory cache keeps it.
    private static func reference(_ image: Image) -> (@Sendable () -> Image?)? {
        guard let make = image.makeOfPixels else { return nil }
        return { [weak bitmap = image.bitmap] in bitmap.flatMap(make) }
    }

    private func info() -> ImageInfo { ImageInfo(format: .png, size: PixelSize(4, 2)) }

    @Test func aStillIsFoundWhileItsPixelsAreKept() throws {
        var image: Image? = Image(bitmap: try bitmap(), info: info())
        image?.scale = 2
        image?.isTemplate = true
        image?.mirrorsForRightToLeft = true
        let reference = try #require(image.flatMap(Self.reference))
        let found = try #require(reference())
        #expect(found.bitmap === image?.bitmap)
        #expect(found.info == image?.info)
        #expect(found.scale == 2)
        #expect(found.isTemplate && found.mirrorsForRightToLeft)
        image = nil
        #expect(reference() != nil)
        withExtendedLifetime(found) {}
    }

    @Test func weakImageIsReleasedWithItsPixels() throws {
        func reference() throws -> (@Sendable () -> Image?)? {
            Self.reference(Image(bitmap: try bitmap(), info: info()))
        }
        let gone = try #require(try reference())
        #expect(gone() == nil)
    }

    @Test func anAnimationIsFoundWhileItsFramesAreKept() throws {
        let frames = try (0..<3).map { _ in
            (image: Image(bitmap: try bitmap(), info: info()), duration: Duration.seconds(1))
        }
        func make() throws -> (poster: Bitmap, animation: AnimatedImage, reference: (@Sendable () -> Image?)?) {
            let animation = try AnimatedImage(frames: frames, loopCount: 3)
            let image = Image(bitmap: frames[0].image.bitmap, info: info(), animation: animation)
            return (image.bitmap, animation, Self.reference(image))
        }
        func poster() throws -> (Bitmap, @Sendable () -> Image?) {
            let made = try make()
            let reference = try #require(made.reference)
            #expect(reference()?.animation?.loopCount == 3)
            #expect(reference()?.animation?.durations.count == 3)
            return (made.poster, reference)
        }
        let (kept, reference) = try poster()
        // The poster alone is not the animation.
        #expect(reference() == nil)
        withExtendedLifetime(kept) {}
    }

    @Test func framesOfAValueCannotBeFoundAgain() throws {
        struct Frames: AnimationFrameSource {
            let bitmap: Bitmap
            var cost: Int { 0 }
            func frame(at index: Int, context: WorkContext) throws -> Bitmap { bitmap }
        }
        let animation = try AnimatedImage(
            source: Frames(bitmap: try bitmap()), size: PixelSize(2, 1), durations: [.seconds(1)], loopCount: 0)
        #expect(Image(bitmap: try bitmap(), info: info(), animation: animation).makeOfPixels == nil)
    }
}
