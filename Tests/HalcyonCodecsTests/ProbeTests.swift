import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

@Suite struct ProbeTests {
    let registry = CoderRegistry.standard()

    /// A start marker, as a restart marker, has no length.
    @Test(arguments: [0xD8, 0xD0, 0xD7, 0x01] as [UInt8]) func markersThatStandAloneAreSkipped(marker: UInt8) throws {
        let data = try Fixture.read("jpeg/baseline-444.jpg")
        let info = try registry.probe(data)
        let marked = data.prefix(2) + Data([0xFF, marker]) + data.dropFirst(2)
        #expect(try registry.probe(Data(marked)).size == info.size)
    }

    @Test(arguments: Fixture.all)
    func saysWhatTheIndexSays(_ fixture: Fixture) throws {
        let info = try registry.probe(fixture.data())
        #expect(info.format.name == fixture.format)
        #expect(info.size == fixture.size)
        #expect(info.frameCount == fixture.frames)
        #expect(info.loopCount == fixture.loops)
        #expect(info.hasAlpha == fixture.alpha)
        #expect(info.orientation.rawValue == fixture.orientation)
        #expect(info.bitsPerChannel == fixture.bitsPerChannel)
        if let space = fixture.colorSpace { #expect(info.colorSpace.description == space) }
    }

    /// A slice that does not begin at index 0 reads the same.
    @Test(arguments: Fixture.all)
    func readsSlices(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let slice = (Data([1, 2, 3]) + data).dropFirst(3)
        #expect(try registry.probe(slice) == registry.probe(data))
        #expect(try registry.decode(slice).bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func needsOnlyTheFirst64KiB(_ format: ImageFormat) throws {
        let image = try sampleImage(PixelSize(800, 600), hasAlpha: format != .jpeg)
        let file = try registry.encode(image, as: format, options: EncodeOptions(quality: 0.98, isLossless: true))
        let start = file.prefix(min(64 << 10, file.count / 2))
        #expect(try registry.probe(start) == registry.probe(file))
    }

    @Test func countsTheFramesThatAreThere() throws {
        let data = try Fixture.read("gif/animated.gif")
        let counts = (1...data.count).compactMap { try? registry.probe(data.prefix($0)).frameCount }
        #expect(counts.sorted() == counts)
        #expect(Set(counts) == [1, 2, 3, 4])
    }

    @Test(arguments: [("jpeg/gray.jpg", ColorSpace.gray), ("jpeg/cmyk.jpg", .cmyk), ("png/gray16.png", .gray)])
    func tellsColorSpaces(_ file: String, _ space: ColorSpace) throws {
        #expect(try registry.probe(Fixture.read(file)).colorSpace == space)
    }

    @Test func tooLittleIsDamaged() throws {
        let cuts = [("jpeg/gray.jpg", 10), ("png/gray8.png", 20), ("webp/lossy.webp", 20), ("gif/still.gif", 12)]
        for (file, count) in cuts {
            #expect(throws: CodecError.self) { try registry.probe(Fixture.read(file).prefix(count)) }
        }
    }

    @Test func readsTheNameOfAProfile() throws {
        let plain = try Fixture.read("jpeg/baseline-444.jpg")
        for profile in [Self.version2Profile, Self.version4Profile] {
            let body = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
            let segment = [0xFF, 0xE2] + Self.bigEndian(body.count + 2, bytes: 2) + body
            let info = try registry.probe(plain.prefix(2) + segment + plain.dropFirst(2))
            #expect(info.colorSpace == .icc("Wide"))
        }
    }

    @Test func aBrokenProfileHasNoName() {
        for length in 0..<Self.version2Profile.count {
            let name = Self.version2Profile.prefix(length).withUnsafeBytes { ICCProfile.name(of: ByteReader($0)) }
            #expect(name.count < 4 || name == "Wide")
        }
    }

    private static let version2Profile = profile(description: Array("desc\0\0\0\0\0\0\0\u{5}Wide\0".utf8))
    private static let version4Profile = profile(
        description: Array("mluc".utf8) + bigEndian(0, bytes: 4) + bigEndian(1, bytes: 4) + bigEndian(12, bytes: 4)
            + Array("enUS".utf8) + bigEndian(8, bytes: 4) + bigEndian(28, bytes: 4)
            + "Wide".utf16.flatMap { bigEndian(Int($0), bytes: 2) })

    private static func profile(description: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: 128) + bigEndian(1, bytes: 4) + Array("desc".utf8) + bigEndian(144, bytes: 4)
            + bigEndian(description.count, bytes: 4) + description
    }

    private static func bigEndian(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(value >> ($0 * 8) & 255) }
    }
}
