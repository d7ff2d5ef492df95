import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Icons and cursors; their pixels are in the goldens.
@Suite struct ICOTests {
    private let registry = CoderRegistry.standard()

    private func decode(_ data: Data, to side: Int? = nil) throws -> Image {
        try registry.decode(data, options: DecodeOptions(target: side.map { TargetSize(PixelSize($0, $0)) }))
    }

    private func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// A directory before pictures; `places` replaces where an entry says that its picture begins.
    private func icon(_ pictures: [Data], places: [Int: Int] = [:], lengths: [Int: Int] = [:]) -> Data {
        var (entries, place) = ([UInt8](), 6 + 16 * pictures.count)
        for (index, picture) in pictures.enumerated() {
            entries += [8, 8, 0, 0, 1, 0, 32, 0] + little(lengths[index] ?? picture.count, 4)
            entries += little(places[index] ?? place, 4)
            place += picture.count
        }
        return pictures.reduce(Data([0, 0, 1, 0] + little(pictures.count, 2) + entries)) { $0 + $1 }
    }

    /// A picture of one colour and 24 bits, with a mask that hides nothing.
    private func square(_ side: Int, _ color: [UInt8], rows: Int? = nil) -> Data {
        var header = little(40, 4) + little(side, 4) + little(rows ?? side * 2, 4)
        header += little(1, 2) + little(24, 2) + little(0, 24)
        let padding = [UInt8](repeating: 0, count: (4 - side * 3 % 4) % 4)
        let row: [UInt8] = [[UInt8]](repeating: color, count: side).flatMap { $0 } + padding
        let pixels: [UInt8] = [[UInt8]](repeating: row, count: side).flatMap { $0 }
        return Data(header + pixels + [UInt8](repeating: 0, count: (side + 31) / 32 * 4 * side))
    }

    private func png(_ side: Int, _ color: [UInt8]) throws -> Data {
        let pixels = [[UInt8]](repeating: color + [255], count: side * side).flatMap { $0 }
        return try Image(width: side, height: side, pixels: pixels, layout: .bgra).data(as: .png)
    }

    private static let (blue, green, red): ([UInt8], [UInt8], [UInt8]) = ([255, 0, 0], [0, 255, 0], [0, 0, 255])

    private func color(_ image: Image) -> [UInt8]? {
        image.bitmap.pixel(x: image.width / 2, y: image.height / 2).map { [$0.blue, $0.green, $0.red] }
    }

    @Test func thePictureThatSuitsIsTaken() throws {
        let data = icon([try png(48, Self.red), square(16, Self.blue), square(24, Self.green)])
        #expect(try registry.probe(data).size == PixelSize(48, 48))
        let expected = [
            (10, Self.blue), (16, Self.blue), (17, Self.green), (24, Self.green), (25, Self.red), (99, Self.red),
        ]
        for (side, expectation) in expected {
            let image = try decode(data, to: side)
            #expect(color(image) == expectation, "\(side)")
            #expect(image.size == PixelSize(min(side, 48), min(side, 48)))
        }
        #expect(try color(decode(data)) == Self.red)
    }

    @Test func theDeepestOfOneSizeIsTaken() throws {
        let deep = try Fixture.read("ico/several.ico")
        let image = try decode(deep, to: 24)
        // The picture of 24 bits is hidden by its mask at the corner, that of 32 bits is not.
        #expect(image.bitmap.pixel(x: 0, y: 23)?.alpha == 255)
    }

    @Test func entriesThatCannotBeReadAreLeftOut() throws {
        let garbage = Data(repeating: 0xAB, count: 64)
        #expect(try color(decode(icon([garbage, square(8, Self.green)]))) == Self.green)
        #expect(try color(decode(icon([square(8, Self.green), garbage]))) == Self.green)
        // One whose picture would lie in the directory.
        #expect(try color(decode(icon([square(8, Self.green), square(9, Self.red)], places: [1: 4]))) == Self.green)
        #expect(throws: CodecError.self) { try decode(icon([garbage])) }
    }

    @Test func anEntryBeyondTheEndIsACutFile() throws {
        let data = icon([square(8, Self.green), square(16, Self.red)])
        #expect(throws: CodecError.damaged(.ico, reason: "the file was cut off")) {
            try decode(data.prefix(data.count - square(16, Self.red).count))
        }
        #expect(throws: CodecError.damaged(.ico, reason: "the file was cut off")) {
            try decode(icon([square(8, Self.green)], lengths: [0: 1 << 30]).dropLast(3))
        }
        // A length that is too large does no harm by itself.
        #expect(try color(decode(icon([square(8, Self.green)], lengths: [0: 1 << 30]))) == Self.green)
    }

    /// The largest picture is there: browsers show it.
    @Test func anEntryBeyondTheEndOfASmallerPictureIsLeftOut() throws {
        for pictures in [
            [square(32, Self.red), square(8, Self.green)], [square(8, Self.green), square(32, Self.red)],
        ] {
            let small = pictures[0].count < pictures[1].count ? 0 : 1
            let data = icon(pictures, places: [small: 1 << 20])
            #expect(try color(decode(data)) == Self.red)
            #expect(try color(decode(data, to: 8)) == Self.red)
        }
        let cut = icon([square(32, Self.red), square(8, Self.green)])
        #expect(try color(decode(cut.dropLast(square(8, Self.green).count - 20))) == Self.red)
        // A side of 0 may be any from 256 on.
        var unknown = icon([square(32, Self.red), square(8, Self.green)], places: [1: 1 << 20])
        unknown[6 + 16] = 0
        #expect(throws: CodecError.damaged(.ico, reason: "the file was cut off")) { try decode(unknown) }
        #expect(throws: CodecError.damaged(.ico, reason: "the file was cut off")) { try decode(cut.prefix(30)) }
    }

    @Test func picturesMayShareTheirBytes() throws {
        let data = icon([square(8, Self.green), Data()], places: [1: 38], lengths: [1: square(8, Self.green).count])
        #expect(try color(decode(data)) == Self.green)
    }

    /// The sizes in the directory do not count.
    @Test func thePictureSaysItsOwnSize() throws {
        #expect(try registry.probe(icon([square(31, Self.red)])).size == PixelSize(31, 31))
        #expect(try registry.probe(icon([try png(300, Self.red)])).size == PixelSize(300, 300))
    }

    @Test func rowsFromTheTopAndOddHeights() throws {
        let data = icon([square(8, Self.green, rows: -16)])
        #expect(try decode(data).size == PixelSize(8, 8))
        #expect(try decode(icon([square(8, Self.green, rows: 17)])).size == PixelSize(8, 8))
        #expect(throws: CodecError.self) { try decode(icon([square(8, Self.green, rows: 1)])) }
        #expect(throws: CodecError.self) { try decode(icon([square(8, Self.green, rows: Int(Int32.min))])) }
    }

    @Test(arguments: [true, false]) func theMaskHasTheOrderOfThePixels(isTopDown: Bool) throws {
        var picture = square(8, Self.green, rows: isTopDown ? -16 : 16)
        // The first row of the mask, of four bytes.
        picture.replaceSubrange(picture.count - 32..<picture.count - 28, with: [255, 0, 0, 0])
        let bitmap = try decode(icon([picture])).bitmap
        for y in 0..<8 { #expect(bitmap.pixel(x: 3, y: y)?.alpha == (y == (isTopDown ? 0 : 7) ? 0 : 255)) }
    }

    /// Systems turn no icons, and metadata of any length may stand before the pixels.
    @Test func anOrientationInsideDoesNotCount() throws {
        let plain = PNGFile(width: 9, height: 4, kind: 3, bits: 8, palette: [0, 0, 255, 0, 255, 0])
        let stream = Packing().packed([[UInt8]](repeating: [0, 0, 0, 1, 0, 0, 1, 0, 0, 1], count: 4).flatMap { $0 })
        let png = plain.data(stream)
        let tag: [UInt8] = [1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        let exif = CraftedFile.chunk("eXIf", Data([77, 77, 0, 42, 0, 0, 0, 8, 0, 1] + tag))
        let long = CraftedFile.chunk("tEXt", Data(repeating: 65, count: 70_000))
        let clear = CraftedFile.chunk("tRNS", Data([255, 0]))
        let pixels = try #require(png.firstRange(of: Data("IDAT".utf8))).lowerBound - 4
        func with(_ chunks: Data...) -> Data { png.prefix(pixels) + chunks.joined() + png.dropFirst(pixels) }
        try #require(registry.probe(with(exif)).orientation == .right)
        for file in [with(exif), with(long, exif)] {
            let image = try decode(icon([file]))
            #expect(image.size == PixelSize(9, 4))
            #expect(image.bitmap.bytes == (try decode(png)).bitmap.bytes)
        }
        let late = icon([with(long, clear)])
        #expect(try registry.probe(late).hasAlpha)
        #expect(try decode(late).bitmap.bytes == decode(with(clear)).bitmap.bytes)
    }

    @Test func limitsHoldForTheLargestPicture() throws {
        let data = icon([square(16, Self.blue), try png(300, Self.red)])
        var options = DecodeOptions()
        options.limits.maximumSide = 100
        #expect {
            try registry.decode(data, options: options)
        } throws: { ($0 as? CodecError)?.code == "limitExceeded" }
        var huge = little(40, 4) + little(60_000, 4) + little(120_000, 4)
        huge += little(1, 2) + little(32, 2) + little(0, 24)
        #expect {
            try decode(icon([Data(huge)]))
        } throws: { ($0 as? CodecError)?.code == "limitExceeded" }
    }

    @Test func aPNGThatIsDamagedSaysSo() throws {
        let data = icon([try png(20, Self.red)])
        #expect {
            try decode(data.dropLast(30))
        } throws: { error in
            guard case CodecError.damaged(.ico, _) = error else { return false }
            return true
        }
    }

    @Test func profilesOfAPNGInsideAreApplied() throws {
        let files = Fixture.all.filter { $0.format == "png" && $0.colorSpace != nil }
        for file in files.prefix(4) {
            let png = try file.data()
            #expect(try decode(icon([png])).bitmap.bytes == decode(png).bitmap.bytes, "\(file.file)")
        }
    }

    @Test func anAnimationInsideIsItsFirstFrame() throws {
        let png = try Fixture.read("png/apng.png")
        let image = try decode(icon([png]))
        #expect(image.animation == nil)
        #expect(try image.bitmap.bytes == decode(png).bitmap.bytes)
    }

    @Test func otherFilesWithSuchABeginningAreNone() {
        // An uncompressed picture of TGA.
        let picture = Data(
            [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 16, 0, 24, 0] + [UInt8](repeating: 9, count: 40))
        #expect(FormatSniffer.format(of: picture) == .tga)
    }
}
