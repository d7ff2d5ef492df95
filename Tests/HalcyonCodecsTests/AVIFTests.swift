import Foundation
import HalcyonImage
import Testing

@testable import HalcyonAVIF
@testable import HalcyonCodecs

@Suite struct AVIFTests {
    let registry = CoderRegistry.standard()

    @Test func formatIsUnsupportedWithoutItsCoder() throws {
        registry.removeAll { $0 is AVIFCoder }
        let data = try Fixture.read("avif/444.avif")
        #expect(throws: CodecError.unsupportedFormat(.avif)) { try registry.decode(data) }
    }

    @Test func aFileWithoutColorsIsGray() throws {
        #expect(try registry.probe(Fixture.read("avif/400.avif")).colorSpace == .gray)
        #expect(try registry.probe(Fixture.read("avif/420.avif")).colorSpace == .sRGB)
    }

    /// The header says 10 bits, or grey, by which the colours would be converted.
    @Test(arguments: [0x40, 0x10] as [UInt8]) func samplesOfAnotherKindThanTheHeaderSaysAreRefused(_ flag: UInt8) throws
    {
        var file = try Fixture.read("color/p3.avif")
        let header = try #require(file.range(of: Data("av1C".utf8)))
        try #require(file[header.upperBound + 2] & flag == 0)
        file[header.upperBound + 2] ^= flag
        // The number of channels and their bits are also in a property of their own, which may be missing.
        if let pixels = file.range(of: Data("pixi".utf8)) { file.replaceSubrange(pixels, with: Data("free".utf8)) }
        let error = #expect(throws: CodecError.self) { try registry.decode(file) }
        #expect("\(try #require(error))".contains("another kind than the header says"))
    }

    @Test func turnedFilesAllLookTheSame() throws {
        let upright = try registry.decode(Fixture.read("avif/orientation-1.avif"))
        let files = Fixture.all.filter { $0.file.hasPrefix("avif/orientation-") }
        #expect(files.count == 8)
        for fixture in files {
            // Pillow's own picture of a turned file is the upright one turned, and turned back it has other pixels.
            let turned = try registry.decode(fixture.data())
            let orientation = try #require(Orientation(rawValue: fixture.orientation))
            #expect(turned.info.storedSize == upright.size)
            #expect(turned.bitmap.bytes == (try upright.bitmap.oriented(orientation).bytes), "\(orientation)")
        }
    }

    @Test(arguments: [false, true]) func losslessGivesBackEveryPixel(hasAlpha: Bool) throws {
        for size in [PixelSize(1, 1), PixelSize(3, 5), PixelSize(257, 130)] {
            let image = try sampleImage(size, hasAlpha: hasAlpha)
            let file = try registry.encode(image, as: .avif, options: EncodeOptions(isLossless: true))
            #expect(try registry.decode(file).bitmap.bytes == image.bitmap.bytes)
        }
    }

    @Test func lossyComesClose() throws {
        let image = try sampleImage(PixelSize(400, 300))
        var sizes: [Int] = []
        for (quality, least) in [(0.3, 26.0), (0.85, 30.0), (1.0, 45.0)] {
            let file = try registry.encode(image, as: .avif, options: EncodeOptions(quality: quality))
            let decoded = try registry.decode(file)
            #expect(!decoded.info.hasAlpha)
            let signal = signalToNoise(decoded.bitmap.bytes, image.bitmap.bytes)
            #expect(signal > least, "\(quality): \(signal)")
            sizes.append(file.count)
        }
        #expect(sizes == sizes.sorted())
    }

    @Test func lossyKeepsAlpha() throws {
        let image = try sampleImage(PixelSize(200, 150), hasAlpha: true)
        let decoded = try registry.decode(registry.encode(image, as: .avif))
        #expect(decoded.info.hasAlpha)
        #expect(signalToNoise(decoded.bitmap.bytes, image.bitmap.bytes) > 32)
    }

    @Test func imageTooWideForFormatIsNotEncoded() throws {
        let image = try sampleImage(PixelSize(66_000, 1))
        let error = #expect(throws: CodecError.self) { try registry.encode(image, as: .avif) }
        #expect(error?.code == "processing")
    }

    /// Replaces the size that every item declares.
    private func declaring(_ width: UInt32, _ height: UInt32) throws -> Data {
        var data = try Fixture.read("avif/444.avif")
        var start = data.startIndex
        while let found = data[start...].range(of: Data("ispe".utf8)) {
            start = found.upperBound
            let sides = [width, height].flatMap { side in [24, 16, 8, 0].map { UInt8(side >> $0 & 255) } }
            data.replaceSubrange(start + 4..<start + 12, with: sides)
        }
        return data
    }

    @Test func anEnormousSizeIsRefusedByItsHeader() throws {
        for (width, height) in [(60_000, 60_000), (UInt32.max, UInt32.max)] as [(UInt32, UInt32)] {
            let error = #expect(throws: CodecError.self) { try registry.decode(declaring(width, height)) }
            #expect(error?.code == "limitExceeded")
        }
        let limits = DecodeLimits(maximumPixels: 900)
        let error = #expect(throws: CodecError.self) {
            try registry.decode(Fixture.read("avif/444.avif"), options: DecodeOptions(limits: limits))
        }
        #expect(error == .limitExceeded("pixels", value: 40 * 24, limit: 900))
    }

    /// As browsers do; what is coded in several layers has smaller ones as well.
    @Test func pixelsOfAnotherSizeAreScaledToTheDeclaredOne() throws {
        let whole = try registry.decode(Fixture.read("avif/444.avif")).bitmap
        let double = try registry.decode(declaring(80, 48)).bitmap
        #expect(double.size == PixelSize(80, 48))
        let box = ResizeGeometry(source: double.size, box: whole.size, mode: .stretch, upscale: false)
        let half = try double.resampled(box, context: .uncancellable)
        #expect(signalToNoise(half.bytes, whole.bytes) > 25)
    }

    @Test func probeNeedsNoPixels() throws {
        let data = try Fixture.read("avif/444.avif")
        let start = try #require(data.range(of: Data("mdat".utf8))).upperBound
        #expect(try registry.probe(data.prefix(start)) == registry.probe(data))
    }

    /// The numerator and denominator of one of the four numbers of the clean aperture.
    private func withAperture(_ index: Int, _ numerator: UInt32, _ denominator: UInt32) throws -> Data {
        var data = try Fixture.read("avif/clap.avif")
        let start = try #require(data.range(of: Data("clap".utf8))).upperBound + index * 8
        let bytes = [numerator, denominator].flatMap { value in [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }
        data.replaceSubrange(start..<start + 8, with: bytes)
        return data
    }

    @Test(
        arguments: [
            (0, 0, 1), (0, 41, 1), (0, 21, 0), (0, 43, 2), (0, UInt32.max, 1), (1, 25, 1), (1, 0, 0), (2, 40, 1),
            (2, 1, 3),
            (3, UInt32.max - 40, 1), (3, 7, 0),
        ] as [(Int, UInt32, UInt32)])
    func anInvalidApertureIsIgnored(index: Int, numerator: UInt32, denominator: UInt32) throws {
        let data = try withAperture(index, numerator, denominator)
        #expect(try registry.probe(data).size == PixelSize(40, 24))
        let bitmap = try registry.decode(data).bitmap
        #expect(bitmap.size == PixelSize(40, 24))
        // The formulas of the fixture.
        #expect(bitmap.bytes.prefix(4) == [7, 0, 0, 255] && bitmap.bytes.suffix(4) == [7, 230, 234, 255])
    }

    @Test func sizesMeanTheCroppedPicture() throws {
        let data = try Fixture.read("avif/clap-irot.avif")
        #expect(try registry.probe(data).size == PixelSize(13, 21))
        let options = DecodeOptions(region: PixelRect(x: 2, y: 3, width: 5, height: 6))
        let (part, whole) = (try registry.decode(data, options: options).bitmap, try registry.decode(data).bitmap)
        #expect(try part.bytes == whole.cropped(to: PixelRect(x: 2, y: 3, width: 5, height: 6)).bytes)
        // The whole picture is unpacked, and counts.
        let limits = DecodeLimits(maximumPixels: 900)
        #expect(throws: CodecError.limitExceeded("pixels", value: 40 * 24, limit: 900)) {
            try registry.decode(data, options: DecodeOptions(limits: limits))
        }
    }

    /// Without the alpha of one of them, the picture has none, as in other programs.
    @Test func allCellsOfAGridNeedAlpha() throws {
        var data = try Fixture.read("avif/grid-cells-alpha.avif")
        #expect(try registry.decode(data).info.hasAlpha)
        let reference = try #require(data.range(of: Data("auxl".utf8)))
        // The alpha of item 2 becomes that of item 9, which is not there.
        data[reference.upperBound + 5] = 9
        let image = try registry.decode(data)
        #expect(!image.info.hasAlpha && image.bitmap.isOpaque && image.size == PixelSize(128, 64))
    }
}
