import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Every fixture against the pixels that another decoder found.
@Suite struct GoldenTests {
    let registry = CoderRegistry.standard()

    @Test func theIndexIsThere() {
        #expect(Fixture.all.count > 50)
    }

    @Test(arguments: Fixture.all)
    func decodesToItsGolden(_ fixture: Fixture) throws {
        let image = try registry.decode(fixture.data())
        #expect(image.size == fixture.size)
        let golden = try fixture.goldenPixels()
        if fixture.exact {
            // Both sides multiply by alpha to the nearest, so not even one level is given away.
            let difference = try #require(largestDifference(image.bitmap.bytes, golden))
            #expect(difference <= fixture.tolerance ?? 0)
        } else {
            #expect(signalToNoise(image.bitmap.bytes, golden) >= 45)
        }
    }

    @Test(arguments: Fixture.all)
    func saysOpaqueOnlyWhereItIs(_ fixture: Fixture) throws {
        let bitmap = try registry.decode(fixture.data()).bitmap
        let bytes = bitmap.bytes
        let isOpaque = stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
        if bitmap.isOpaque { #expect(isOpaque) }
        if !fixture.alpha { #expect(bitmap.isOpaque) }
    }

    @Test func orientedFilesAllLookTheSame() throws {
        let upright = try registry.decode(Fixture.read("jpeg/orientation-1.jpg"))
        for orientation in 2...8 {
            let image = try registry.decode(Fixture.read("jpeg/orientation-\(orientation).jpg"))
            #expect(image.info.orientation.rawValue == orientation)
            #expect(image.size == upright.size)
            #expect(signalToNoise(image.bitmap.bytes, upright.bitmap.bytes) > 28, "orientation \(orientation)")
        }
    }

    @Test(arguments: ["jpeg/cmyk.jpg", "jpeg/ycck.jpg"])
    func cmykIsNotInverted(_ file: String) throws {
        let image = try registry.decode(Fixture.read(file))
        let color = try registry.decode(Fixture.read("jpeg/baseline-444.jpg"))
        #expect(image.info.colorSpace == .cmyk)
        #expect(signalToNoise(image.bitmap.bytes, color.bitmap.bytes) > 25)
    }
}
