import CHalcyonCodecs
import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonHEIC

@Suite struct HEICTests {
    let registry = CoderRegistry.standard()

    @Test func formatIsUnsupportedWithoutItsCoder() throws {
        registry.removeAll { $0 is HEICCoder }
        let data = try Fixture.read("heic/444.heic")
        #expect(throws: CodecError.unsupportedFormat(.heic)) { try registry.decode(data) }
    }

    /// They carry the same orientation in EXIF and in the container: turned once, not twice, not never.
    @Test func turnedFilesAreTurnedOnce() throws {
        let upright = try registry.decode(Fixture.read("heic/orientation-1.heic")).bitmap
        #expect(upright.size == PixelSize(24, 16))
        for orientation in Orientation.allCases {
            let image = try registry.decode(Fixture.read("heic/orientation-\(orientation.rawValue).heic"))
            #expect(image.size == orientation.applied(to: upright.size))
            #expect(image.info.orientation == .up)
            #expect(signalToNoise(image.bitmap.bytes, try upright.oriented(orientation).bytes) > 35, "\(orientation)")
        }
    }

    /// libheif would decode AV1 as well, were it asked to.
    @Test func anotherCoderDecodesAVIF() throws {
        var data = try Fixture.read("avif/444.avif")
        for brand in ["avif", "mif1"] {
            while let found = data.range(of: Data(brand.utf8)), found.lowerBound < 40 {
                data.replaceSubrange(found, with: Data("heix".utf8))
            }
        }
        #expect(throws: CodecError.unsupportedFormat(.avif)) { try registry.decode(data) }
    }

    @Test func anEnormousSizeIsRefusedByItsHeader() throws {
        var data = try Fixture.read("heic/444.heic")
        let found = try #require(data.range(of: Data("ispe".utf8))).upperBound
        data.replaceSubrange(found + 4..<found + 12, with: [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60])
        let error = #expect(throws: CodecError.self) { try registry.decode(data) }
        #expect(error?.code == "limitExceeded")
    }

    @Test func moreBitsAreRoundedNotCut() throws {
        let samples: [(bits: Int, value: Int, byte: UInt8)] = [
            (10, 0, 0), (10, 2, 0), (10, 3, 1), (10, 1021, 255), (10, 1020, 254), (12, 7, 0), (12, 9, 1), (16, 128, 0),
            (16, 129, 1), (16, 65_407, 255), (10, 5000, 255),
        ]
        for (bits, value, byte) in samples {
            let word = [UInt8(value & 255), UInt8(value >> 8)]
            let source = word + [0, 0] + [0, 0] + [255, 255]
            var target = [UInt8](repeating: 7, count: 4)
            halcyon_rgba_to_bgra(source, &target, 1, Int32(bits))
            #expect(target == [0, 0, byte, 255], "\(bits) \(value)")
        }
    }

    @Test func lossyComesClose() throws {
        let image = try sampleImage(PixelSize(200, 150))
        var sizes: [Int] = []
        for (quality, least) in [(0.3, 25.0), (0.85, 30.0), (1.0, 40.0)] {
            let file = try registry.encode(image, as: .heic, options: EncodeOptions(quality: quality))
            let decoded = try registry.decode(file)
            #expect(!decoded.info.hasAlpha)
            let signal = signalToNoise(decoded.bitmap.bytes, image.bitmap.bytes)
            #expect(signal > least, "\(quality): \(signal)")
            sizes.append(file.count)
        }
        #expect(sizes == sizes.sorted())
    }

    @Test func encodeKeepsAlphaAndOddSizes() throws {
        for size in [PixelSize(1, 1), PixelSize(3, 5), PixelSize(131, 90)] {
            let image = try sampleImage(size, hasAlpha: true)
            let options = EncodeOptions(quality: 0.95)
            let decoded = try registry.decode(registry.encode(image, as: .heic, options: options))
            #expect(decoded.size == size)
            #expect(decoded.info.hasAlpha)
            #expect(signalToNoise(decoded.bitmap.bytes, image.bitmap.bytes) > 30, "\(size)")
        }
    }

    @Test func imageTooWideForFormatIsNotEncoded() throws {
        let image = try sampleImage(PixelSize(16_385, 1))
        let error = #expect(throws: CodecError.self) { try registry.encode(image, as: .heic) }
        #expect(error?.code == "processing")
    }

    private static func renaming(_ name: String, in data: Data) throws -> Data {
        var data = data
        data.replaceSubrange(try #require(data.range(of: Data(name.utf8))), with: Data("zzz\u{1}".utf8))
        return data
    }

    private static let needsMore = CodecError.damaged(
        .heic, reason: "a picture needs the property zzz?, which is not known")

    /// libheif draws the picture without the property.
    @Test func aPictureWithAnUnknownEssentialPropertyIsRefused() throws {
        let data = try Fixture.read("heic/444.heic")
        #expect(throws: Self.needsMore) { try registry.decode(Self.renaming("clap", in: data)) }
        // One that is not essential.
        let other = try registry.decode(Self.renaming("pixi", in: data))
        #expect(try other.bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    /// The tile of a grid has the property, then a thumbnail, without which the picture is drawn.
    @Test func propertiesOfTilesCountAsWell() throws {
        func file(_ first: CraftedHEIC.Item, _ reference: String, _ place: (Int, Int), isEssential: Bool) throws -> Data
        {
            let crafted = CraftedHEIC(
                items: [first, .picture], references: [(reference, place.0, [place.1])], alphas: [2])
            var data = try Self.renaming("auxC", in: crafted.file())
            let uses = try #require(data.range(of: Data([0, 2, 3, 0x81, 2, 3])))
            if isEssential { data[uses.upperBound - 1] |= 0x80 }
            return data
        }
        let grid = CraftedHEIC.Item.grid(columns: 1, rows: 1)
        #expect(throws: Self.needsMore) { try registry.decode(file(grid, "dimg", (1, 2), isEssential: true)) }
        #expect(try registry.decode(file(grid, "dimg", (1, 2), isEssential: false)).size == PixelSize(64, 64))
        #expect(try registry.decode(file(.picture, "thmb", (2, 1), isEssential: true)).size == PixelSize(64, 64))
    }

    /// Found by fuzzing: former pictures showed through.
    @Test func aPictureThatItsSlicesDoNotCoverIsRefused() throws {
        let data = try Fixture.read("hostile/slice-left-out.heic")
        for _ in 0..<20 {
            #expect(throws: CodecError.damaged(.heic, reason: "its H.265 data leaves parts of the picture out")) {
                try CoderRegistry.standard().decode(data)
            }
        }
    }
}
