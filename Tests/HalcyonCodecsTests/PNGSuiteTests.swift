import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Willem van Schaik's PngSuite, as far as libpng and pypng have it. `PNGPlainTests` compares each of its files, as all other
/// fixtures, with libpng.
@Suite struct PNGSuiteTests {
    private static let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    private static var folder: URL { Fixture.folder.appending(path: "pngsuite") }
    private static var files: [String] { names.filter { $0.hasSuffix(".png") }.sorted() }

    private func decoded(_ data: Data) throws -> Image {
        try CoderRegistry([PNGCoder()]).decode(data, options: DecodeOptions(color: .asStored))
    }

    private func read(_ file: String) throws -> Data { try Fixture.read("pngsuite/" + file) }

    /// The names say what is in the files: whether they are interlaced, the kind of pixels, the bits of a channel.
    @Test func everyFileIsWhatItsNameSays() throws {
        try #require(Self.files.count == 86)
        for file in Self.files {
            let data = try read(file)
            let name = file.split(separator: "/").last.map { Array($0.utf8) } ?? []
            #expect(data[24] == name[name.count - 5] - 48 + (name[name.count - 6] - 48) * 10, "\(file)")
            // One of grey pixels says 1.
            let kind = name[name.count - 7] == UInt8(ascii: "p") ? 3 : (name[name.count - 8] - 48) & ~1
            #expect(data[25] == kind, "\(file)")
            let side = name.first == UInt8(ascii: "s") ? Int(name[1] - 48) * 10 + Int(name[2] - 48) : 32
            #expect(try decoded(data).size == PixelSize(side, side), "\(file)")
        }
    }

    /// Pictures that the suite has twice, in rows and interlaced, some of them with other colour spaces.
    @Test func interlacedFilesHaveTheSamePixels() throws {
        let pairs = Self.files.compactMap { file -> (String, String)? in
            if file.hasPrefix("i") { return (file, String(file.dropFirst())) }
            return file.hasPrefix("2009/basi") ? (file, file.replacing("basi", with: "basn")) : nil
        }.filter { Self.files.contains($0.1) }
        try #require(pairs.count > 30)
        var interlacedCount = 0
        for (interlaced, plain) in pairs {
            let (first, second) = (try withoutColorSpace(read(interlaced)), try withoutColorSpace(read(plain)))
            interlacedCount += Int(first[28]) - Int(second[28])
            #expect(try decoded(first).bitmap.bytes == decoded(second).bitmap.bytes, "\(interlaced)")
        }
        // Three of libpng's are named so and are not.
        #expect(interlacedCount == 35)
    }

    private func withoutColorSpace(_ data: Data) -> Data {
        var file = data
        for name in ["gAMA", "cHRM"] {
            guard let place = file.range(of: Data(name.utf8)) else { continue }
            let length = file[(place.lowerBound - 4)..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
            file.removeSubrange((place.lowerBound - 4)..<(place.upperBound + length + 4))
        }
        return file
    }

    /// The faults of the files of the suite that no program may accept, each made of a good file as its documentation says. The
    /// checksum of pixels is another one.
    @Test(arguments: [
        "xs1", "xs2", "xs4", "xs7", "xcr", "xlf", "xhd", "xc1", "xc9", "xd0", "xd3", "xd9", "xdt",
    ])
    func brokenFilesAreRefused(_ fault: String) throws {
        for file in ["basn0g01.png", "basn0g04.png", "basn2c08.png"] {
            let data = try read(file)
            #expect(throws: Never.self) { try decoded(data) }
            #expect(throws: CodecError.self, "\(file)") { try decoded(broken(data, fault)) }
        }
    }

    /// libpng is told to use pixels whose checksum is wrong.
    @Test func theChecksumOfPixelsDoesNotCount() throws {
        for file in ["basn0g01.png", "basn0g04.png", "basn2c08.png"] {
            let data = try read(file)
            let other = broken(data, "xcs")
            #expect(other != data)
            #expect(try decoded(other).bitmap.bytes == decoded(data).bitmap.bytes, "\(file)")
        }
    }

    /// Nor does that of transparency, in files that are read with and without libpng. Chromium 156 and Firefox 153 show those opaque.
    @Test func theChecksumOfTransparencyDoesNotCount() throws {
        for file in ["ftbbn3p08.png", "ftp1n3p08.png", "iftbbn3p08.png", "ftbrn2c08.png", "iftbbn0g04.png"] {
            let data = try read(file)
            let (image, whole) = (try decoded(otherChecksum(of: "tRNS", in: data)), try decoded(data))
            #expect(image.bitmap.bytes == whole.bitmap.bytes && image.info == whole.info, "\(file)")
            #expect(!image.bitmap.isOpaque, "\(file)")
        }
    }

    /// A changed palette would be another picture.
    @Test func aPaletteWithAnotherChecksumIsRefused() throws {
        for file in ["ftbbn3p08.png", "iftbbn3p08.png", "basn3p02.png"] {
            let data = try otherChecksum(of: "PLTE", in: read(file))
            #expect(throws: CodecError.damaged(.png, reason: "its palette is damaged"), "\(file)") { try decoded(data) }
        }
    }

    private func otherChecksum(of chunk: String, in data: Data) throws -> Data {
        let place = try #require(data.range(of: Data(chunk.utf8)))
        let length = data[(place.lowerBound - 4)..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        var other = data
        other[place.upperBound + length] ^= 0xFF
        return other
    }

    private func broken(_ data: Data, _ fault: String) -> Data {
        var file = [UInt8](data)
        let pixels = data.range(of: Data("IDAT".utf8))?.lowerBound ?? 0
        let length = file[(pixels - 4)..<pixels].reduce(0) { $0 << 8 | Int($1) }
        switch fault {
        // Bytes of the signature whose highest bit, or whose line ends, a transfer changed.
        case "xs1": file[0] &= 0x7F
        case "xs2": file[1] = UInt8(ascii: "Q")
        case "xs4": file[3] = UInt8(ascii: "g")
        case "xs7": file[6] = 0
        case "xcr": file = file.flatMap { $0 == 10 ? [13, 10] : [$0] }
        case "xlf": file = file.flatMap { $0 == 13 ? [] : [$0] }
        // Checksums of the header and of the pixels.
        case "xhd": file[29] ^= 0xFF
        case "xcs": file[pixels + 4 + length] ^= 0xFF
        // Kinds of pixels and bits that there are not.
        case "xc1": return header(data, bits: nil, kind: 1)
        case "xc9": return header(data, bits: nil, kind: 9)
        case "xd0": return header(data, bits: 0, kind: nil)
        case "xd3": return header(data, bits: 3, kind: nil)
        case "xd9": return header(data, bits: 99, kind: nil)
        default: file.removeSubrange((pixels - 4)..<(pixels + 8 + length))
        }
        return Data(file)
    }

    private func header(_ data: Data, bits: UInt8?, kind: UInt8?) -> Data {
        var body = Data(data[16..<29])
        body[body.startIndex + 8] = bits ?? data[24]
        body[body.startIndex + 9] = kind ?? data[25]
        return data.prefix(8) + CraftedFile.chunk("IHDR", body) + data.dropFirst(33)
    }
}
