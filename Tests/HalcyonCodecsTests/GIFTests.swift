import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// GIFs that giflib refuses and browsers show.
@Suite struct GIFTests {
    let registry = CoderRegistry.standard()

    private static let (black, clear) = ([0, 0, 0, 255] as [UInt8], [0, 0, 0, 0] as [UInt8])
    /// Blue, green, red, alpha, as a table of red and green gives them.
    private static let (red, green) = ([0, 0, 255, 255] as [UInt8], [0, 255, 0, 255] as [UInt8])

    /// Codes of some bits each, from the lowest bit on.
    private func packed(_ codes: [(code: Int, width: Int)]) -> [UInt8] {
        var bits: [Int] = []
        for (code, width) in codes { bits += (0..<width).map { code >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | UInt8($1.element << $1.offset) }
        }
    }

    /// One frame whose pixels are each preceded by the clear code, so that all codes have the same width.
    ///
    /// - Parameter table: whether it has a global table of red and green.
    private func file(
        _ pixels: [Int], size: PixelSize, bits: Int, table: Bool = true, transparent: UInt8? = nil, codes: [Int]? = nil,
        stream: [UInt8]? = nil,
        ending: [UInt8] = [0, 0x3B], endCode: Bool = true
    ) -> Data {
        func little(_ values: Int...) -> [UInt8] { values.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } }
        var data = Data("GIF89a".utf8) + little(size.width, size.height) + ([table ? 0x80 : 0, 0, 0] as [UInt8])
        if table { data += [255, 0, 0, 0, 255, 0] as [UInt8] }
        if let transparent { data += [0x21, 0xF9, 4, 1, 0, 0, transparent, 0] as [UInt8] }
        data += [0x2C] as [UInt8]
        data += little(0, 0, size.width, size.height)
        data += [0, UInt8(bits)]
        let all = codes ?? pixels.flatMap { [1 << bits, $0] } + (endCode ? [1 << bits + 1] : [])
        let stream = stream ?? packed(all.map { ($0, bits + 1) })
        for start in stride(from: 0, to: stream.count, by: 255) {
            let part = stream[start..<min(start + 255, stream.count)]
            data += [UInt8(part.count)] + part
        }
        return data + ending
    }

    private func bytes(_ data: Data) throws -> [UInt8] { try registry.decode(data).bitmap.bytes }

    @Test func withoutAnyTableAllIsBlack() throws {
        let data = file([0, 1, 3, 2], size: PixelSize(2, 2), bits: 2, table: false)
        #expect(try bytes(data) == Array(repeatElement(Self.black, count: 4).joined()))
        #expect(try registry.decode(data).bitmap.isOpaque)
        let holed = file([0, 1, 3, 2], size: PixelSize(2, 2), bits: 2, table: false, transparent: 1)
        #expect(try bytes(holed) == Self.black + Self.clear + Self.black + Self.black)
    }

    @Test(arguments: 9...11) func indicesMayHaveMoreThan8Bits(bits: Int) throws {
        let last = 1 << bits - 1
        let data = file([0, 1, 2, 256, 257, last], size: PixelSize(3, 2), bits: bits)
        #expect(try bytes(data) == Self.red + Self.green + Self.black + Self.black + Self.black + Self.black)
        #expect(try registry.probe(data).size == PixelSize(3, 2))
    }

    @Test(arguments: 0...1) func indicesMayHaveFewerThan2Bits(bits: Int) throws {
        // The width of the codes grows with the first one.
        let codes = bits == 1 ? [(2, 2), (1, 2), (0, 3), (1, 3)] : [(1, 1), (0, 1), (0, 2), (0, 3)]
        let data = file([], size: PixelSize(3, 1), bits: bits, stream: packed(codes))
        #expect(try bytes(data) == (bits == 1 ? Self.green + Self.red + Self.green : Self.red + Self.red + Self.red))
    }

    @Test(arguments: [12, 13, 64, 255]) func codesOfMoreThan12BitsAreRefused(bits: Int) throws {
        var data = file([0], size: PixelSize(1, 1), bits: 2)
        data[data.count - 6] = UInt8(bits)
        #expect(throws: CodecError.damaged(.gif, reason: "its colour indices have \(bits) bits")) {
            try registry.decode(data)
        }
    }

    /// Neither the end code, nor the terminator, nor the trailer.
    @Test func onlyThePixelsAreNeeded() throws {
        let (pixels, size) = ((0..<300).map { $0 % 2 }, PixelSize(20, 15))
        let whole = try bytes(file(pixels, size: size, bits: 2))
        for ending: [UInt8] in [[], [0], [0x3B], [0, 0x3B]] {
            for endCode in [false, true] {
                let data = file(pixels, size: size, bits: 2, ending: ending, endCode: endCode)
                #expect(try bytes(data) == whole, "\(ending) \(endCode)")
            }
        }
        // The last sub-block has the end code and a few unused bits.
        let data = file(pixels, size: size, bits: 2)
        #expect(try bytes(data.dropLast(2)) == whole)
        for cut in [10, 100, 200] { #expect(throws: CodecError.self) { try registry.decode(data.dropLast(cut)) } }
    }

    /// In an animation too, whose last frame would otherwise be missing.
    @Test func theLastFrameMayLackItsEnd() throws {
        let data = CraftedFile.gif(PixelSize(2, 2), frames: 3, of: PixelRect(x: 0, y: 0, width: 2, height: 2))
        let whole = try #require(try registry.decode(data).animation)
        #expect(whole.frameCount == 3)
        for ending: [UInt8] in [[], [0x3B]] {
            let open = data.dropLast(2) + ending
            let animation = try #require(try registry.decode(open).animation)
            #expect(animation.frameCount == 3)
            #expect(try animation.frame(at: 2).bytes == whole.frame(at: 2).bytes)
        }
        // A pixel is missing.
        #expect(try registry.decode(data.dropLast(3)).animation?.frameCount == 2)
    }

    @Test func codesWithoutMeaningAreDamage() throws {
        // The first code after a clear one is a colour; a later one is at most the next to be given.
        for codes in [[4, 6], [4, 7], [4, 0, 7], [6, 0]] {
            let data = file([], size: PixelSize(2, 2), bits: 2, codes: codes + [5])
            #expect(throws: CodecError.damaged(.gif, reason: "its pixels are damaged")) { try registry.decode(data) }
        }
        // The end code before the pixels end.
        let short = file([], size: PixelSize(2, 2), bits: 2, codes: [4, 0, 5])
        #expect(throws: CodecError.damaged(.gif, reason: "the file was cut off")) { try registry.decode(short) }
    }

    /// A code that stands for the text which it adds itself.
    @Test func aCodeMayRepeatTheOneBefore() throws {
        let data = file([], size: PixelSize(3, 2), bits: 2, codes: [4, 1, 6, 4, 0, 4, 1, 4, 1, 5])
        #expect(
            try bytes(data) == [Self.green, Self.green, Self.green, Self.red, Self.green, Self.green].flatMap { $0 })
    }

    /// Files of giflib come back, whatever the shape of the rows and however full the table of codes.
    @Test(arguments: [PixelSize(1, 5000), PixelSize(20_000, 1), PixelSize(700, 500), PixelSize(5000, 30)])
    func writtenFilesComeBack(size: PixelSize) throws {
        var generator = FixedGenerator(state: 9)
        let noise = (0..<size.width * size.height).map { _ in UInt32.random(in: 0..<200, using: &generator) }
        let flat = noise.indices.map { UInt32($0 / 977 % 3) }
        for values in [noise, flat] {
            let pixels = values.flatMap { [UInt8($0), UInt8(255 - $0), UInt8($0 / 2), 255] }
            let bitmap = try Bitmap(size: size, isOpaque: true, pixels: pixels)
            let image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size))
            #expect(try bytes(registry.encode(image, as: .gif)) == pixels)
        }
    }
}
