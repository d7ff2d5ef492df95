import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Files that lack or contradict what no pixel depends on: end marks and checksums. Browsers show them.
@Suite struct MissingEndTests {
    let registry = CoderRegistry.standard()

    private func arrived(_ data: Data) throws -> Image {
        let decoding = try #require(registry.makeProgressive(for: data))
        for start in stride(from: 0, to: data.count, by: 100) {
            try decoding.append(data[start..<min(start + 100, data.count)])
        }
        return try decoding.finish(context: .uncancellable)
    }

    @Test(arguments: [
        ("jpeg/gray.jpg", 2), ("jpeg/gray.jpg", 1), ("jpeg/progressive.jpg", 2), ("png/rgb8.png", 12),
        ("png/rgb8.png", 5), ("png/rgb8.png", 16), ("png/adam7-rgba.png", 12), ("png/rgba16.png", 12),
    ])
    func anEndMarkMayBeMissing(file: String, bytes: Int) throws {
        let data = try Fixture.read(file)
        let whole = try registry.decode(data).bitmap.bytes
        #expect(try registry.decode(data.dropLast(bytes)).bitmap.bytes == whole)
        #expect(try arrived(Data(data.dropLast(bytes))).bitmap.bytes == whole)
    }

    /// A byte of the pixels, or a scan of a progressive file, may not.
    @Test(arguments: ["jpeg/gray.jpg", "jpeg/progressive.jpg", "png/rgb8.png", "png/adam7-rgba.png"])
    func pixelsMayNotBeMissing(file: String) throws {
        let data = try Fixture.read(file)
        for cut in [data.prefix(data.count - 40), data.prefix(data.count * 3 / 4)] {
            #expect(throws: CodecError.self) { try registry.decode(cut) }
            #expect(throws: CodecError.self) { try arrived(Data(cut)) }
        }
    }

    @Test func aScanMayNotBeMissing() throws {
        let data = try Fixture.read("jpeg/progressive.jpg")
        // Every start of a scan but the first.
        let scans = data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }.dropFirst()
        #expect(scans.count > 2)
        for scan in scans {
            #expect(throws: CodecError.self) { try registry.decode(data[..<scan]) }
            #expect(throws: CodecError.self) { try arrived(Data(data[..<scan])) }
            // With an end mark it is a file of fewer scans.
            #expect(throws: Never.self) { try registry.decode(data[..<scan] + [0xFF, 0xD9]) }
        }
    }

    @Test func checksumsOfPixelsAreIgnored() throws {
        let whole = try registry.decode(Fixture.read("png/rgb8.png")).bitmap.bytes
        #expect(try registry.decode(Fixture.read("bad/bad-crc.png")).bitmap.bytes == whole)
        var data = try Fixture.read("png/rgb8.png")
        // The end of the pixels is their Adler sum; the checksum of the chunk, then the end chunk follow.
        data[data.count - 17] ^= 0x55
        #expect(try registry.decode(data).bitmap.bytes == whole)
        #expect(try arrived(data).bitmap.bytes == whole)
    }

    @Test func theHeadersChecksumCounts() throws {
        var data = try Fixture.read("png/rgb8.png")
        data[19] ^= 1
        #expect(throws: CodecError.damaged(.png, reason: "its header is damaged")) { try registry.decode(data) }
        #expect(throws: CodecError.damaged(.png, reason: "its header is damaged")) { try registry.probe(data) }
    }

    /// The transparency of a palette that comes before the palette is dropped.
    @Test func transparencyBeforeThePaletteIsDropped() throws {
        let data = try Fixture.read("png/palette-trns.png")
        let palette = try #require(data.firstRange(of: Data("PLTE".utf8))).lowerBound - 4
        let transparency = try #require(data.firstRange(of: Data("tRNS".utf8))).lowerBound - 4
        let end = try #require(data.firstRange(of: Data("IDAT".utf8))).lowerBound - 4
        #expect(palette < transparency && transparency < end)
        let moved = data[..<palette] + data[transparency..<end] + data[palette..<transparency] + data[end...]
        let (bitmap, original) = (try registry.decode(moved).bitmap, try registry.decode(data).bitmap)
        #expect(stride(from: 3, to: bitmap.bytes.count, by: 4).allSatisfy { bitmap.bytes[$0] == 255 })
        #expect(stride(from: 3, to: original.bytes.count, by: 4).contains { original.bytes[$0] < 255 })
    }

    @Test func aHEICWithoutASizeIsDamaged() throws {
        var data = try Fixture.read("heic/420.heic")
        while let range = data.firstRange(of: Data("ispe".utf8)) {
            data.replaceSubrange(range, with: Data("free".utf8))
        }
        #expect(throws: CodecError.self) { try registry.probe(data) }
        #expect(throws: CodecError.self) { try registry.decode(data) }
    }

    /// Colours are converted before they are multiplied by their alpha.
    @Test func transparentColorsAreConvertedExactly() throws {
        let stored = DecodeOptions(color: .asStored)
        let profile = try #require(
            try registry.decode(Fixture.read("color/alpha-p3.webp"), options: stored).colorProfile)
        let alphas = [3, 10, 40, 100, 254]
        let pixels = alphas.flatMap { alpha in (0..<4).map { (alpha * $0 / 3, alpha) } }
        func converted(_ pixels: [(level: Int, alpha: Int)]) throws -> [UInt8] {
            let size = PixelSize(pixels.count, 1)
            let bytes = pixels.flatMap { [UInt8($0.level / 2), UInt8($0.level), UInt8($0.level / 3), UInt8($0.alpha)] }
            let bitmap = try Bitmap(size: size, isOpaque: false, pixels: bytes)
            var image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size, hasAlpha: true))
            image.colorProfile = profile
            return try registry.decode(registry.encode(image, as: .png)).bitmap.bytes
        }
        let bytes = try converted(pixels)
        for (index, pixel) in pixels.enumerated() {
            // The colour that the file stores, without alpha.
            let channels = [pixel.0 / 2, pixel.0, pixel.0 / 3].map { ($0 * 255 + pixel.1 / 2) / pixel.1 }
            let opaque = try Bitmap(
                size: PixelSize(1, 1), isOpaque: true, pixels: channels.map { UInt8($0) } + [255])
            var image = Image(bitmap: opaque, info: ImageInfo(format: .png, size: PixelSize(1, 1)))
            image.colorProfile = profile
            let whole = try registry.decode(registry.encode(image, as: .png)).bitmap.bytes
            for channel in 0..<3 {
                let expected = (Int(whole[channel]) * pixel.1 + 127) / 255
                #expect(abs(Int(bytes[index * 4 + channel]) - expected) <= 1, "\(pixel) \(channel)")
            }
        }
    }
}
