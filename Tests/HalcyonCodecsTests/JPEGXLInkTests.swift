import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

/// JPEG XL in inks beside what the goldens hold: their files are in tests of all fixtures, of damage, of limits and in workers.
@Suite struct JPEGXLInkTests {
    private static let files = ["jxl/inks.jxl", "jxl/inks-alpha.jxl", "jxl/inks-16-bit.jxl", "jxl/inks-multiplied.jxl"]
    private let registry = CoderRegistry.standard()

    /// In XYB, the black is in the colours already.
    @Test func inksOfALossyFileAreThoseOfOneWithoutLoss() throws {
        let lossy = try registry.decode(Fixture.read("jxl/inks-lossy.jxl"))
        let whole = try registry.decode(Fixture.read("jxl/inks.jxl"))
        #expect(signalToNoise(lossy.bitmap.bytes, whole.bitmap.bytes) > 28)
        #expect(lossy.info.colorSpace == .icc("Halcyon Inks"))
    }

    @Test(arguments: files, [ColorHandling.sRGB, .asStored])
    func inksAreConvertedInAnyCase(_ file: String, _ color: ColorHandling) throws {
        let data = try Fixture.read(file)
        let image = try registry.decode(data, options: DecodeOptions(color: color))
        #expect(image.colorProfile == nil)
        #expect(image.bitmap.bytes == (try registry.decode(data).bitmap.bytes))
    }

    @Test(arguments: files)
    func deepPixelsAreThoseOfEightBits(_ file: String) throws {
        let data = try Fixture.read(file)
        let image = try registry.decode(data, options: DecodeOptions(depth: .init()))
        let bytes = try registry.decode(data).bitmap.bytes
        #expect(image.bitmap.bytes == bytes)
        let wide = stride(from: 0, to: bytes.count, by: 4).flatMap { pixel in
            [2, 1, 0, 3].map { UInt16(bytes[pixel + $0]) * 257 }
        }
        #expect(image.deepBitmap?.words == wide)
    }

    /// The samples of the black, and the conversion of the inks, come on top of what the same pixels take otherwise.
    @Test func theMemoryOfBlackIsReserved() throws {
        let plans = try ["jxl/inks.jxl", "jxl/inks-plain.jxl", "jxl/groups.jxl"].map {
            try registry.plan(Fixture.read($0)).workingBytes
        }
        let profile = try Fixture.read("icc/cmyk.icc")
        #expect(plans[0] - plans[2] >= 290 * 40 * (12 + 1) + profile.count)
        #expect(plans[1] < plans[0])
    }

    /// Squares whose black is missing would be full of it.
    @Test(arguments: files)
    func nothingIsShownBeforeAllInksAreThere(_ file: String) throws {
        let data = try Fixture.read(file)
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try #require(registry.makeProgressive(for: data))
        var previews: [[UInt8]] = []
        for offset in stride(from: 0, to: data.count, by: 100) {
            try decoding.append(data[offset..<min(data.count, offset + 100)])
            if let preview = try decoding.preview(context: .uncancellable) { previews.append(preview.bitmap.bytes) }
        }
        #expect(previews == [whole])
        #expect(try decoding.finish(context: .uncancellable).bitmap.bytes == whole)
        #expect(throws: CodecError.self) {
            try registry.decode(data.dropLast(200), options: DecodeOptions(allowsIncomplete: true))
        }
    }

    /// A conversion of inks is cancelled while it runs.
    @Test func aConversionIsCancelled() throws {
        let data = try Fixture.read("jxl/inks.jxl")
        try expectCancellation(leastChecks: 4) { _ = try registry.decode(data, context: $0) }
    }
}
