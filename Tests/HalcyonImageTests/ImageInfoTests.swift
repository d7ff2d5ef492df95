import HalcyonImage
import Testing

@Suite struct ImageInfoTests {
    @Test func anImageIsStillOpaqueAndUprightByDefault() {
        let info = ImageInfo(format: .png, size: PixelSize(4, 2))
        #expect(info.frameCount == 1)
        #expect(info.loopCount == nil)
        #expect(!info.isAnimated)
        #expect(!info.hasAlpha)
        #expect(info.bitsPerChannel == 8)
        #expect(info.orientation == .up)
        #expect(info.colorSpace == .sRGB)
        #expect(!info.isVector)
        #expect(!info.isPreview)
    }

    @Test func anImageOfTwoFramesIsAnimated() {
        #expect(ImageInfo(format: .gif, size: PixelSize(4, 2), frameCount: 2).isAnimated)
    }
}
