import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// `DecodeOptions.region`: a part of the image, at its own size or reduced.
@Suite struct RegionTests {
    let registry = CoderRegistry.standard()

    private static let lossless = Fixture.all.filter { $0.format != "svg" && $0.frames == 1 }

    private func regions(of size: PixelSize) -> [PixelRect] {
        [
            PixelRect(x: 0, y: 0, width: size.width, height: size.height),
            PixelRect(x: 0, y: 0, width: 1, height: 1),
            PixelRect(x: size.width - 1, y: size.height - 1, width: 1, height: 1),
            PixelRect(
                x: size.width / 3, y: size.height / 4, width: max(1, size.width / 2), height: max(1, size.height / 2)),
        ]
    }

    @Test(arguments: lossless)
    func aRegionIsACutOfTheWhole(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let whole = try registry.decode(data)
        for region in regions(of: whole.size) {
            let part = try registry.decode(data, options: DecodeOptions(region: region))
            #expect(part.size == region.size)
            #expect(part.info.size == whole.size)
            let expected = try whole.bitmap.cropped(to: region)
            let difference = largestDifference(part.bitmap.bytes, expected.bytes)
            // Colours are converted behind the cut, in both cases pixel by pixel.
            #expect(difference == 0, "\(region)")
        }
    }

    @Test(arguments: ["png/rgb8.png", "jpeg/orientation-6.jpg", "webp/lossless.webp"])
    func aTargetIsThatOfTheRegion(_ file: String) throws {
        let data = try Fixture.read(file)
        let whole = try registry.decode(data)
        let region = PixelRect(x: 3, y: 2, width: 24, height: 16)
        for mode in ResizeMode.allCases {
            let box = PixelSize(10, 10)
            let options = DecodeOptions(target: TargetSize(box, mode: mode), region: region)
            var geometry = ResizeGeometry(source: region.size, box: box, mode: mode, upscale: false)
            geometry.sourceX += 3
            geometry.sourceY += 2
            let part = try registry.decode(data, options: options)
            #expect(part.size == geometry.size)
            let expected = try whole.bitmap.resampled(geometry)
            #expect(signalToNoise(part.bitmap.bytes, expected.bytes) > 24, "\(mode)")
        }
    }

    @Test func everyFrameIsCut() throws {
        for file in ["gif/animated.gif", "png/apng.png", "webp/animated.webp"] {
            let data = try Fixture.read(file)
            let region = PixelRect(x: 5, y: 4, width: 7, height: 9)
            let part = try #require(try registry.decode(data, options: DecodeOptions(region: region)).animation)
            let whole = try #require(try registry.decode(data).animation)
            for index in 0..<whole.frameCount {
                let expected = try whole.frame(at: index).cropped(to: region)
                #expect(try largestDifference(part.frame(at: index).bytes, expected.bytes) == 0)
            }
        }
    }

    @Test(arguments: [
        PixelRect(x: 0, y: 0, width: 0, height: 4), PixelRect(x: -9, y: 0, width: 4, height: 4),
        PixelRect(x: 48, y: 0, width: 4, height: 4), PixelRect(x: .max, y: .max, width: .max, height: .max),
        PixelRect(x: 0, y: 0, width: .min, height: .min),
    ])
    func aRegionOutsideIsRefused(_ region: PixelRect) throws {
        #expect(throws: BitmapError.self) {
            try registry.decode(Fixture.read("png/rgb8.png"), options: DecodeOptions(region: region))
        }
    }

    @Test func aRegionThatReachesOutIsCutToTheImage() throws {
        let data = try Fixture.read("png/rgb8.png")
        let region = PixelRect(x: 40, y: -3, width: 100, height: 10)
        let part = try registry.decode(data, options: DecodeOptions(region: region))
        let expected = try registry.decode(data).bitmap.cropped(to: PixelRect(x: 40, y: 0, width: 8, height: 7))
        #expect(part.bitmap.bytes == expected.bytes)
    }

    @Test func aRegionOfALargeFileTakesItsOwnMemory() throws {
        let file = try registry.encode(sampleImage(PixelSize(3000, 2000)), as: .jpeg)
        let region = PixelRect(x: 1000, y: 900, width: 200, height: 100)
        let plan = try registry.plan(file, options: DecodeOptions(region: region))
        #expect(plan.isStreamed)
        #expect(plan.workingBytes == 200 * 100 * 4)
    }
}
