import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Orientation and profile, kept in a file or dropped from it: what is seen is the same.
@Suite struct EncodeMetadataTests {
    let registry = CoderRegistry.standard()

    private static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif]

    private func isSame(_ left: Image, _ right: Image, _ format: ImageFormat) -> Bool {
        let signal = signalToNoise(left.bitmap.bytes, right.bitmap.bytes)
        return format == .jpeg ? signal > 23 : signal > 40
    }

    @Test(arguments: formats, 1...8)
    func theOrientationIsKept(_ format: ImageFormat, _ orientation: Int) throws {
        let image = try registry.decode(Fixture.read("jpeg/orientation-\(orientation).jpg"))
        let options = EncodeOptions(quality: 1, isLossless: true, keepsOrientation: true)
        let file = try registry.encode(image, as: format, options: options)
        let info = try registry.probe(file)
        #expect(info.orientation.rawValue == orientation)
        #expect(info.storedSize == image.info.storedSize)
        #expect(isSame(try registry.decode(file), image, format))
    }

    @Test(arguments: formats)
    func byDefaultTheFileStandsUpright(_ format: ImageFormat) throws {
        let image = try registry.decode(Fixture.read("jpeg/orientation-6.jpg"))
        let file = try registry.encode(image, as: format)
        #expect(try registry.probe(file).orientation == .up)
        #expect(try registry.probe(file).size == image.size)
    }

    @Test(arguments: formats, ["color/p3.jpg", "color/adobe.jpg", "color/lossy-adobe.webp"])
    func theProfileIsKeptWithItsPixels(_ format: ImageFormat, _ source: String) throws {
        let data = try Fixture.read(source)
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        let converted = try registry.decode(data)
        let profile = try #require(stored.colorProfile)
        #expect(converted.colorProfile == nil)
        #expect(stored.bitmap.bytes != converted.bitmap.bytes)
        let file = try registry.encode(stored, as: format, options: EncodeOptions(quality: 1, isLossless: true))
        let again = try registry.decode(file, options: DecodeOptions(color: .asStored))
        #expect(again.colorProfile == profile)
        #expect(isSame(again, stored, format))
        #expect(isSame(try registry.decode(file), converted, format))
    }

    @Test(arguments: formats + [.gif, .heic])
    func aProfileThatIsNotKeptIsApplied(_ format: ImageFormat) throws {
        let data = try Fixture.read("color/p3.jpg")
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        let options = EncodeOptions(quality: 1, isLossless: true, keepsColorProfile: false)
        let file = try registry.encode(stored, as: format, options: options)
        #expect(try registry.decode(file, options: DecodeOptions(color: .asStored)).colorProfile == nil)
        let signal = try signalToNoise(
            registry.decode(file).bitmap.bytes, registry.decode(data).bitmap.bytes)
        #expect(signal > 24, "\(format): \(signal)")
    }

    @Test func aGreyProfileIsKept() throws {
        let data = try Fixture.read("color/gray8.png")
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        let options = EncodeOptions(keepsColorProfile: false)
        let file = try registry.encode(stored, as: .png, options: options)
        #expect(try largestDifference(registry.decode(file).bitmap.bytes, registry.decode(data).bitmap.bytes) == 0)
    }

    @Test func everyFrameIsConverted() throws {
        let data = try Fixture.read("color/animated.png")
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        let file = try registry.encode(stored, as: .png)
        let (left, right) = (try registry.decode(file), try registry.decode(data))
        let (frames, expected) = (try #require(left.animation), try #require(right.animation))
        for index in 0..<expected.frameCount {
            let difference = try largestDifference(frames.frame(at: index).bytes, expected.frame(at: index).bytes)
            #expect(difference == 0)
        }
    }

    /// More than one segment holds.
    @Test func aLongProfileIsSplit() throws {
        var image = try sampleImage(PixelSize(16, 16))
        let profile = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        image.colorProfile = profile
        let file = try registry.encode(image, as: .jpeg)
        let segments = file.indices.filter { file[$0...].starts(with: Data("ICC_PROFILE".utf8)) }
        #expect(segments.count == 3)
        // The profile is invalid, and is ignored.
        #expect(try registry.decode(file).size == image.size)
        image.colorProfile = Data(count: 255 * 65_519 + 1)
        #expect(throws: CodecError.self) { try registry.encode(image, as: .jpeg) }
    }
}
