import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

/// Large profiles, and profiles that declare a large size.
@Suite struct ColorProfileTests {
    let registry = CoderRegistry.standard()

    private func file(_ profile: Data, as format: ImageFormat) throws -> Data {
        var image = try sampleImage(PixelSize(16, 16))
        image.colorProfile = profile
        return try registry.encode(image, as: format, options: EncodeOptions(quality: 1))
    }

    /// Profiles of 90 KB and of 12 MB.
    @Test(arguments: [ImageFormat.png, .jpeg, .webp], [UInt8(31), 160])
    func aTableCounts(_ format: ImageFormat, _ steps: UInt8) throws {
        let bitmap = try registry.decode(file(ProfileFile.table(steps: steps), as: format)).bitmap
        let colors = Set(stride(from: 0, to: bitmap.bytes.count, by: 4).map { Array(bitmap.bytes[$0..<($0 + 3)]) })
        #expect(colors.count == 1)
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .webp])
    func aTableThatIsNotThereIsPassedOver(_ format: ImageFormat) throws {
        let file = try file(ProfileFile.table(steps: 255, held: 2), as: format)
        let stored = try registry.decode(file, options: DecodeOptions(color: .asStored))
        #expect(stored.colorProfile != nil)
        #expect(try registry.decode(file).bitmap.bytes == stored.bitmap.bytes)
    }

    /// libpng passes over a profile whose size is another one than it says.
    @Test func aProfileThatClaimsToBeHugeIsPassedOver() throws {
        var profile = ProfileFile.table(steps: 2)
        profile.replaceSubrange(0..<4, with: Data(repeating: 0xFF, count: 4))
        let file = try file(profile, as: .png)
        try #require(file.range(of: Data("iCCP".utf8)) != nil)
        let stored = try registry.decode(file, options: DecodeOptions(color: .asStored))
        #expect(try registry.decode(file).bitmap.bytes == stored.bitmap.bytes)
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .webp])
    func aConversionIsReserved(_ format: ImageFormat) throws {
        let profile = ProfileFile.table(steps: 60)
        let file = try file(profile, as: format)
        #expect(try registry.plan(file).workingBytes > profile.count * 8)
        let small = CoderRegistry(registry.coders.reversed(), budget: DecodeBudget(capacity: profile.count))
        #expect(throws: CodecError.self) { try small.decode(file) }
        #expect(try registry.plan(file, options: DecodeOptions(color: .asStored)).workingBytes < profile.count)
    }

    @Test func aConversionOfAnEncodingIsReserved() throws {
        let profile = ProfileFile.table(steps: 60)
        let image = try registry.decode(file(profile, as: .png), options: DecodeOptions(color: .asStored))
        let small = CoderRegistry(registry.coders.reversed(), budget: DecodeBudget(capacity: profile.count))
        let options = EncodeOptions(keepsColorProfile: false)
        #expect(throws: CodecError.self) { try small.encode(image, as: .png, options: options) }
        #expect(small.budget.available == profile.count)
        #expect(try registry.probe(registry.encode(image, as: .png, options: options)).size == image.size)
    }

    /// Frames do not reserve again what was made for the first.
    @Test func framesAreConvertedByWhatIsThere() throws {
        let data = try Fixture.read("color/animated.png")
        let animation = try #require(try registry.decode(data).animation)
        #expect(try animation.workingBytes < registry.plan(data).workingBytes)
    }
}
