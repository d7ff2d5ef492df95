import Foundation
import Halcyon
import HalcyonSystem
import Testing

@testable import HalcyonTool

/// Pictures in each protocol, read back from its bytes.
@Suite(.timeLimit(.minutes(5))) struct PictureEncoderTests {
    private func screen(_ bitmap: Bitmap, _ encoder: PictureEncoder, isFrame: Bool = false) throws -> ScreenModel {
        let picture = try encoder.picture(bitmap, id: 77, isFrame: isFrame)
        let screen = ScreenModel(ShowFixture.bytes(picture), columns: 200, rows: 100)
        #expect(screen.unexpected.isEmpty)
        return screen
    }

    private static func samePixels(_ left: Bitmap, _ right: Bitmap) -> Bool {
        left.size == right.size && left.withPixels { a in right.withPixels { b in a.elementsEqual(b) } }
    }

    /// A bitmap with every alpha, premultiplied.
    private static func translucent() throws -> Bitmap {
        try ShowFixture.bitmap(16, 16) { x, y in
            let alpha = y * 16 + x
            return [UInt8(alpha), UInt8(alpha / 2), UInt8(alpha * x / 15), UInt8(alpha)]
        }
    }

    // MARK: Kitty

    @Test(arguments: [(1, 1), (5, 3), (300, 200)])
    func kittyCarriesEveryPixel(width: Int, height: Int) throws {
        let bitmap = try ShowFixture.colorful(width, height)
        let picture = try #require(try KittyPicture.all(on: screen(bitmap, ShowFixture.encoder(.kitty))).first)
        #expect(picture.keys["a"] == "T" && picture.keys["f"] == "100" && picture.keys["t"] == "d")
        #expect(picture.keys["i"] == "77" && picture.keys["C"] == "1" && picture.keys["q"] == "2")
        #expect(Self.samePixels(try decoded(picture.file), bitmap))
        #expect((picture.chunks > 1) == (width == 300))
    }

    @Test func kittyKeepsAlpha() throws {
        let bitmap = try Self.translucent()
        let picture = try #require(try KittyPicture.all(on: screen(bitmap, ShowFixture.encoder(.kitty))).first)
        #expect(Self.samePixels(try decoded(picture.file), bitmap))
    }

    @Test(arguments: [0, 1, 3071, 3072, 3073, 6144, 10_000])
    func kittysChunksAreFullButTheLast(count: Int) throws {
        let file = Data((0..<count).map { UInt8($0 % 251) })
        let sequences = KittyEncoder.sequences(png: file, id: 5)
        #expect(sequences.count == max(1, (count + 3071) / 3072))
        let picture = try #require(try KittyPicture.all(on: ScreenModel(sequences.joined())).first)
        #expect(picture.file == file && picture.chunks == sequences.count)
    }

    // MARK: iTerm2

    @Test func iTermCarriesEveryPixel() throws {
        for bitmap in [try ShowFixture.colorful(30, 20), try Self.translucent()] {
            let picture = try #require(try ITermPicture.all(on: screen(bitmap, ShowFixture.encoder(.iterm2))).first)
            #expect(picture.keys["inline"] == "1" && picture.keys["size"] == "\(picture.file.count)")
            #expect(picture.keys["width"] == "\(bitmap.width)px" && picture.keys["height"] == "\(bitmap.height)px")
            #expect(picture.keys["name"] == nil)
            #expect(Self.samePixels(try decoded(picture.file), bitmap))
        }
    }

    // MARK: Sixel

    /// A pixel as shares of 100, as Sixel names colours.
    private static func shares(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> [Int] {
        guard let pixel = bitmap.pixel(x: x, y: y) else { return [] }
        return [pixel.red, pixel.green, pixel.blue].map { (Int($0) * 100 + 127) / 255 }
    }

    @Test(arguments: [(1, 1), (7, 5), (16, 6), (13, 16), (200, 13)])
    func sixelOfFewColoursIsExact(width: Int, height: Int) throws {
        let bitmap = try ShowFixture.bitmap(width, height) { x, y in
            let (blue, green, red) = (UInt8(x / 9 % 5 * 50), UInt8(y % 5 * 60), UInt8((x + y) % 3 * 100))
            return [blue, green, red, 255]
        }
        let picture = try #require(try SixelPicture.all(on: screen(bitmap, ShowFixture.encoder(.sixel))).first)
        try #require(picture.size == bitmap.size)
        for y in 0..<height {
            for x in 0..<width { #expect(picture.pixel(x: x, y: y) == Self.shares(bitmap, x, y)) }
        }
    }

    @Test(arguments: [false, true])
    func sixelOfManyColoursIsNear(dithers: Bool) throws {
        let bitmap = try ShowFixture.bitmap(128, 96) { x, y in [UInt8(x * 2), UInt8(y * 2), 100, 255] }
        let encoder = ShowFixture.encoder(.sixel, dithers: dithers)
        let picture = try #require(try SixelPicture.all(on: screen(bitmap, encoder)).first)
        #expect(picture.colors.count <= 256)
        var (sum, worst) = (0, 0)
        for y in 0..<96 {
            for x in 0..<128 {
                let drawn = try #require(picture.pixel(x: x, y: y))
                let differences = zip(drawn, Self.shares(bitmap, x, y)).map { abs($0 - $1) }
                sum += differences.reduce(0, +)
                worst = max(worst, differences.max() ?? 0)
            }
        }
        #expect(worst <= 20, "\(worst)")
        #expect(Double(sum) / Double(128 * 96 * 3) < 5)
    }

    /// A grey between two colours becomes a pattern of both whose mean is the grey.
    @Test func ditheringKeepsTheMean() throws {
        let colors: [(red: UInt8, green: UInt8, blue: UInt8)] = [(0, 0, 0), (255, 255, 255)]
        let bitmap = try ShowFixture.uniform(32, 32, [64, 64, 64, 255])
        var indices = [UInt8](repeating: 0, count: 32 * 32)
        SixelDither(colors, clear: nil).apply(to: bitmap, &indices)
        let mean = indices.reduce(0) { $0 + Int($1) } * 255 / (32 * 32)
        #expect((56...72).contains(mean), "\(mean)")
    }

    @Test func ditheringLeavesClearPixels() throws {
        let colors: [(red: UInt8, green: UInt8, blue: UInt8)] = [(255, 255, 255), (0, 0, 0)]
        let bitmap = try ShowFixture.uniform(4, 4, [0, 0, 0, 0])
        var indices = [UInt8](repeating: 1, count: 16)
        SixelDither(colors, clear: 1).apply(to: bitmap, &indices)
        #expect(indices.allSatisfy { $0 == 1 })
        // The clear colour is nobody's nearest.
        indices[5] = 0
        SixelDither(colors, clear: 1).apply(to: bitmap, &indices)
        #expect(indices[5] == 0)
    }

    @Test func sixelLeavesClearPixelsOut() throws {
        let bitmap = try ShowFixture.bitmap(8, 8) { x, y in x < y ? [0, 0, 0, 0] : [0, 0, 200, 255] }
        let picture = try #require(try SixelPicture.all(on: screen(bitmap, ShowFixture.encoder(.sixel))).first)
        for y in 0..<8 {
            for x in 0..<8 { #expect((picture.pixel(x: x, y: y) == nil) == (x < y)) }
        }
        // A frame covers the one before it.
        let encoder = ShowFixture.encoder(.sixel, background: Color(red: 0, green: 1, blue: 0))
        let frame = try #require(try SixelPicture.all(on: screen(bitmap, encoder, isFrame: true)).first)
        #expect(frame.pixel(x: 0, y: 7) == [0, 100, 0] && frame.pixel(x: 7, y: 0) == [78, 0, 0])
    }

    /// A colour beyond the terminal's would be drawn in another one. Clear pixels need none that is defined.
    @Test(arguments: [2, 16, 255], [false, true])
    func sixelKeepsToTheColoursOfTheTerminal(limit: Int, isClear: Bool) throws {
        let bitmap = try ShowFixture.bitmap(40, 40) { x, y in
            isClear && x == y ? [0, 0, 0, 0] : [UInt8(x * 6), UInt8(y * 6), UInt8((x + y) * 3), 255]
        }
        var encoder = ShowFixture.encoder(.sixel)
        encoder.sixelColors = limit
        let screen = try screen(bitmap, encoder)
        let picture = try #require(try SixelPicture.all(on: screen).first)
        let drawn = Set(picture.pixels.compactMap { $0 })
        #expect(drawn.count <= limit && !drawn.isEmpty)
        #expect(picture.pixels.count { $0 == nil } == (isClear ? 40 : 0))
    }

    /// Where the colours suffice, each pixel has its own, and what is clear takes none of them.
    @Test(arguments: [false, true]) func sixelKeepsTheFewColoursOfAPicture(isClear: Bool) throws {
        let (dark, light): ([UInt8], [UInt8]) = ([0x40, 0x40, 0x40, 255], [0x44, 0x44, 0x44, 255])
        let bitmap = try ShowFixture.bitmap(8, 8) { x, y in
            isClear && x == 0 && y == 0 ? [0, 0, 0, 0] : x < 4 ? dark : light
        }
        var encoder = ShowFixture.encoder(.sixel)
        encoder.sixelColors = 2
        let picture = try #require(try SixelPicture.all(on: screen(bitmap, encoder)).first)
        #expect(picture.pixel(x: 1, y: 7) == [25, 25, 25] && picture.pixel(x: 7, y: 7) == [27, 27, 27])
        #expect((picture.pixel(x: 0, y: 0) == nil) == isClear)
    }

    @Test func sixelOfNothingIsEmpty() throws {
        let bitmap = try ShowFixture.uniform(3, 8, [0, 0, 0, 0])
        let picture = try #require(try SixelPicture.all(on: screen(bitmap, ShowFixture.encoder(.sixel))).first)
        #expect(picture.pixels.allSatisfy { $0 == nil })
    }

    /// A picture of one colour takes a few bytes for each band.
    @Test func sixelCountsRuns() throws {
        let bytes = try SixelEncoder.sequence(ShowFixture.uniform(1000, 600, [1, 2, 3, 255]))
        #expect(bytes.count < 100 * 16)
    }

    // MARK: Blocks

    @Test(arguments: [(1, 1), (1, 2), (6, 7), (40, 24)])
    func blocksShowEveryPixel(width: Int, height: Int) throws {
        let bitmap = try ShowFixture.colorful(width, height)
        let screen = try screen(bitmap, ShowFixture.encoder(.blocks))
        for y in 0..<height {
            for x in 0..<width { #expect(screen.pixel(x: x, y: y) == Self.color(bitmap, x, y)) }
        }
        // Nothing beyond the picture.
        #expect(screen.pixel(x: width, y: 0) == nil && screen.pixel(x: 0, y: height) == nil)
    }

    private static func color(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> UInt32? {
        bitmap.pixel(x: x, y: y).map { UInt32($0.red) << 16 | UInt32($0.green) << 8 | UInt32($0.blue) }
    }

    /// Each colour of the palette is itself, and any other one the nearest of them.
    @Test func blocksMayHaveAPalette() throws {
        let palette = (16...255).map(ScreenModel.palette)
        func drawn(_ color: UInt32) throws -> UInt32? {
            let bytes = [color, color >> 8, color >> 16].map { UInt8($0 & 255) } + [255]
            var encoder = ShowFixture.encoder(.blocks)
            encoder.hasEveryColor = false
            return try screen(ShowFixture.uniform(1, 1, bytes), encoder).pixel(x: 0, y: 0)
        }
        for color in palette { #expect(try drawn(color) == color) }
        func distance(_ left: UInt32, _ right: UInt32) -> Int {
            [0, 8, 16].reduce(0) { sum, shift in
                let difference = Int(left >> shift & 255) - Int(right >> shift & 255)
                return sum + difference * difference
            }
        }
        for seed in 0..<300 as Range<UInt32> {
            let color = (seed &* 2_654_435_761) >> 8
            let nearest = palette.map { distance($0, color) }.min() ?? 0
            #expect(distance(try #require(try drawn(color)), color) == nearest, "\(color)")
        }
    }

    @Test func blocksLeaveClearPixelsToTheTerminal() throws {
        let red: [UInt8] = [0, 0, 255, 255]
        let bitmap = try ShowFixture.bitmap(4, 2) { x, y in x & (1 << y) == 0 ? [0, 0, 0, 0] : red }
        let screen = try screen(bitmap, ShowFixture.encoder(.blocks))
        for y in 0..<2 {
            for x in 0..<4 { #expect(screen.pixel(x: x, y: y) == (x & (1 << y) == 0 ? nil : 0xFF0000)) }
        }
    }

    @Test func everyLineOfBlocksEndsPlain() throws {
        let lines = BlockEncoder.lines(try ShowFixture.colorful(3, 6))
        #expect(lines.count == 3)
        for line in lines { #expect(line.suffix(4) == ControlSequence.plain[...]) }
    }

    // MARK: Backgrounds

    @Test func softEdgesLieOverTheBackground() throws {
        // Half of white.
        let bitmap = try ShowFixture.uniform(1, 2, [128, 128, 128, 128])
        let blue = Color(red: 0, green: 0, blue: 1)
        #expect(try screen(bitmap, ShowFixture.encoder(.blocks, background: blue)).pixel(x: 0, y: 0) == 0x8080FF)
        #expect(try screen(bitmap, ShowFixture.encoder(.blocks)).pixel(x: 0, y: 0) == 0x808080)
        let sixel = try screen(bitmap, ShowFixture.encoder(.sixel, background: blue))
        #expect(try SixelPicture.all(on: sixel).first?.pixel(x: 0, y: 0) == [50, 50, 100])
    }

    @Test(arguments: DrawingProtocol.allCases)
    func aChosenBackgroundCounts(way: DrawingProtocol) throws {
        let bitmap = try ShowFixture.uniform(2, 2, [0, 0, 0, 0])
        let encoder = ShowFixture.encoder(way, surface: .color(Color(red: 1, green: 0, blue: 0)))
        let screen = try screen(bitmap, encoder)
        switch way {
        case .kitty:
            let file = try #require(try KittyPicture.all(on: screen).first?.file)
            #expect(try decoded(file).bytes(x: 1, y: 1) == [0, 0, 255, 255])
        case .iterm2:
            let file = try #require(try ITermPicture.all(on: screen).first?.file)
            #expect(try decoded(file).bytes(x: 1, y: 1) == [0, 0, 255, 255])
        case .sixel: #expect(try SixelPicture.all(on: screen).first?.pixel(x: 1, y: 1) == [100, 0, 0])
        case .blocks: #expect(screen.pixel(x: 1, y: 1) == 0xFF0000)
        }
    }

    @Test func aChequerHasTwoGreys() throws {
        let bitmap = try ShowFixture.uniform(4, 4, [0, 0, 0, 0])
        let result = try Backdrop(surface: .chequer(side: 2), keepsClear: false).flattened(bitmap)
        #expect(result.isOpaque)
        for y in 0..<4 {
            for x in 0..<4 {
                let grey: UInt8 = (x / 2 + y / 2) % 2 == 0 ? 0x66 : 0x99
                #expect(result.bytes(x: x, y: y) == [grey, grey, grey, 255])
            }
        }
    }

    // MARK: tmux

    @Test(arguments: DrawingProtocol.allCases)
    func throughTmuxThePictureIsTheSame(way: DrawingProtocol) throws {
        let bitmap = try ShowFixture.colorful(70, 50)
        let plain = try screen(bitmap, ShowFixture.encoder(way))
        let wrapped = try screen(bitmap, ShowFixture.encoder(way, isWrapped: way != .blocks))
        #expect(plain.texts.map(\.content) == wrapped.texts.map(\.content))
        #expect(wrapped.texts.allSatisfy(\.wasWrapped) && !plain.texts.contains(where: \.wasWrapped))
        #expect(plain.lines == wrapped.lines)
    }

    @Test func eachChunkGoesThroughTmuxByItself() throws {
        let picture = try ShowFixture.encoder(.kitty, isWrapped: true).picture(ShowFixture.colorful(300, 200), id: 1)
        let text = String(decoding: ShowFixture.bytes(picture), as: UTF8.self)
        let parts = text.components(separatedBy: "\u{1B}Ptmux;").dropFirst()
        #expect(parts.count > 1)
        for part in parts {
            #expect(part.hasPrefix("\u{1B}\u{1B}_G") && part.hasSuffix("\u{1B}\u{1B}\\\u{1B}\\"))
            #expect(part.utf8.count < 4300)
        }
    }
}
