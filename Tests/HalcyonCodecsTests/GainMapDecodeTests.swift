import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

/// Gain maps as values: read, kept in step with their pictures, and written.
@Suite struct GainMapDecodeTests {
    private let registry = CoderRegistry.standard()
    private static let files = ["gainmap/iso.jpg", "gainmap/ultra-hdr.jpg"]

    private func image(_ name: String, _ options: DecodeOptions = DecodeOptions()) throws -> Image {
        var options = options
        options.decodesGainMap = true
        return try registry.decode(try TestFiles.data(name), options: options)
    }

    @Test(arguments: files) func aMapIsDecodedWhenAskedFor(_ name: String) throws {
        #expect(try registry.decode(TestFiles.data(name)).gainMap == nil)
        let image = try image(name)
        let map = try #require(image.gainMap)
        let isISO = name.hasSuffix("iso.jpg")
        #expect(map.size == (isISO ? PixelSize(48, 32) : PixelSize(24, 16)))
        #expect(map.isMonochrome == !isISO)
        #expect(image.cost == image.bitmap.byteCount + map.bitmap.byteCount)
        // The picture is the same as without.
        #expect(image.bitmap.sameBytes(as: try registry.decode(TestFiles.data(name)).bitmap))
    }
}

extension Bitmap {
    fileprivate func sameBytes(as other: Bitmap) -> Bool {
        size == other.size && withPixels { own in other.withPixels { own.elementsEqual($0) } }
    }
}
