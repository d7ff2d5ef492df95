import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Containers that declare less than is coded in them.
@Suite struct LyingContainerTests {
    private typealias Item = CraftedHEIF.Item
    private let coders = CoderRegistry.standard()
    private let small = PixelSize(64, 64)
    private let huge = PixelSize(8192, 8192)

    private func reason(_ data: Data) -> String? {
        let error = #expect(throws: CodecError.self) { try coders.plan(data) }
        guard case .damaged(_, let reason) = error else { return nil }
        return reason
    }

    // MARK: HEIC

    @Test func theParameterSetCounts() {
        let file = CraftedHEIF(items: [Item(size: small, coded: huge)])
        #expect(reason(file.data()) == "a picture of 64x64 is coded as 8192x8192")
    }

    /// It may stand among the data, in pieces, in the box of metadata, and behind an honest one.
    @Test(arguments: [(1, false), (3, false), (1, true), (7, true)])
    func aParameterSetAmongTheDataCounts(pieces: Int, isInIdat: Bool) {
        let data = CraftedHEIF.unit(CraftedHEIF.parameterSet(huge, subLayers: 2)) + CraftedHEIF.unit(CraftedHEIF.slice)
        let item = Item(size: small, coded: small, data: data, isInIdat: isInIdat, pieces: pieces)
        #expect(reason(CraftedHEIF(items: [item]).data()) == "a picture of 64x64 is coded as 8192x8192")
    }

    /// One of another item than the primary one is decoded as well: alpha, a tile.
    @Test func everyItemCounts() {
        let alpha = Item(size: small, coded: huge, auxiliaryOf: 1)
        #expect(reason(CraftedHEIF(items: [Item(size: small, coded: small), alpha]).data()) != nil)
        let grid = Item(type: "grid", size: small, data: Data([0, 0, 0, 0, 0, 64, 0, 64]), parts: [2])
        #expect(reason(CraftedHEIF(items: [grid, Item(size: small, coded: huge)]).data()) != nil)
    }

    @Test func blocksThatFillUpAreNoLie() throws {
        let file = CraftedHEIF(items: [Item(size: PixelSize(50, 41), coded: small)]).data()
        #expect(try coders.plan(file).info.size == PixelSize(50, 41))
        let wide = CraftedHEIF(items: [Item(size: PixelSize(50, 41), coded: PixelSize(128, 64))]).data()
        #expect(reason(wide) == "a picture of 50x41 is coded as 128x64")
    }

    @Test(arguments: ["ipma", "iref", "iloc"], ["heic", "avif"])
    func itemsThatAreNotDeclaredAreFew(_ table: String, _ format: String) throws {
        let bomb = try #require(Bomb.all.first { $0.name == "items-of-\(table).\(format)" })
        #expect(reason(try bomb.data()) == "it has too many parts")
    }

    @Test func manyPicturesInOneAreRefused() {
        let slices = (0..<500).reduce(Data()) { data, _ in data + CraftedHEIF.unit(CraftedHEIF.slice) }
        let file = CraftedHEIF(items: [Item(size: huge, coded: huge, data: slices)]).data()
        #expect(reason(file) == "an item has 500 pictures")
    }

    /// A tile that is laid thousands of times is decoded as often.
    @Test func tilesCountAsOftenAsTheyAreLaid() throws {
        let side = PixelSize(2048, 2048)
        func grid(_ count: Int) -> Data {
            let grid = Item(
                type: "grid", size: small, data: Data([0, 0, 255, 255, 0, 64, 0, 64]),
                parts: [Int](repeating: 2, count: count))
            return CraftedHEIF(items: [grid, Item(size: side, coded: side)]).data()
        }
        let pixels = 65_000 * 2048 * 2048 + 64 * 64
        #expect(throws: CodecError.limitExceeded("pixels of all frames", value: pixels, limit: 1 << 32)) {
            try coders.plan(grid(65_000))
        }
        // The memory of one tile is reserved.
        #expect(try coders.plan(grid(1)).workingBytes > 2048 * 2048 * 8)
    }

    /// The library reserves memory for the canvas that a grid or an overlay declares in its own data.
    @Test(arguments: [false, true]) func theCanvasOfAGridCounts(isLong: Bool) throws {
        let sides: [UInt8] = isLong ? [0, 0, 0x7F, 0xFF, 0, 0, 0x7F, 0xFF] : [0x7F, 0xFF, 0x7F, 0xFF]
        let tile = Item(size: small, coded: small)
        for (type, head) in [("grid", [0, 0] as [UInt8]), ("iovl", [UInt8](repeating: 0, count: 8))] {
            let data = Data([0, isLong ? 1 : 0] + head + sides)
            let item = Item(type: type, size: small, data: data, parts: [2], isInIdat: true)
            let file = CraftedHEIF(items: [item, tile]).data()
            #expect(reason(file) == "a picture of 64x64 is coded as 32767x32767")
        }
    }

    /// Each is put together of ten of the next: a hundred million pictures in a kilobyte.
    @Test func partsOfPartsMultiply() {
        let layers = (2...9).map { Item(type: "iovl", size: small, parts: [Int](repeating: $0, count: 10)) }
        let error = #expect(throws: CodecError.self) {
            try coders.plan(CraftedHEIF(items: layers + [Item(size: small, coded: small)]).data())
        }
        #expect(["limitExceeded", "damagedImage"].contains(error?.code))
        let ring = [Item(type: "iovl", size: small, parts: [2, 2]), Item(type: "iovl", size: small, parts: [1, 1])]
        #expect(throws: CodecError.self) { try ISOItemsReport(CraftedHEIF(items: ring).data()).check() }
    }

    /// Compares the coded size of the items with the limits, as the registry does.
    private struct ISOItemsReport {
        let data: Data
        init(_ data: Data) { self.data = data }
        func check() throws {
            let info = ImageInfo(format: .heic, size: PixelSize(64, 64))
            let extent = try data.read { try ISOItems($0, format: .heic).extent(of: info) }
            try DecodeLimits().check(extent, of: info, fileBytes: data.count)
        }
    }

    @Test func realFilesAreBelieved() throws {
        for fixture in Fixture.all where ["heic", "avif"].contains(fixture.format) {
            let data = try fixture.data()
            let format: ImageFormat = fixture.format == "heic" ? .heic : .avif
            let extent = try data.read { reader in
                let items = try ISOItems(reader, format: format)
                #expect(items.items.values.contains { $0.coded.size != nil }, "\(fixture.file)")
                return items.extent(of: try coders.probe(data))
            }
            #expect(extent.totalPixels >= fixture.width * fixture.height)
            #expect(extent.totalPixels <= fixture.width * fixture.height * 16 + 65_536, "\(fixture.file)")
        }
    }

    // MARK: AVIF

    @Test(arguments: [true, false]) func theSequenceHeaderCounts(isReduced: Bool) {
        let header = CraftedHEIF.sequenceHeader(huge, isReduced: isReduced)
        let inData = Item(type: "av01", size: small, coded: small, data: header)
        #expect(
            reason(CraftedHEIF(items: [inData], brand: "avif").data()) == "a picture of 64x64 is coded as 8192x8192")
        let inBox = Item(type: "av01", size: small, coded: huge)
        #expect(reason(CraftedHEIF(items: [inBox], brand: "avif").data()) == "a picture of 64x64 is coded as 8192x8192")
    }

    /// The first picture of a sequence is shown.
    @Test func aSequenceIsLookedAtAsWell() {
        let data = CraftedHEIF.sequenceHeader(huge, isReduced: false) + CraftedHEIF.obu(6, Data([0]))
        var file = CraftedHEIF(items: [Item(type: "mime", data: data)], brand: "avis", track: small)
        #expect(reason(file.data()) == "a picture of 64x64 is coded as 8192x8192")
        file.track = huge
        #expect(reason(file.data())?.contains("coded") == false)
    }

    @Test func headersAreFew() {
        let sets = (0..<2000).reduce(Data()) { data, _ in data + CraftedHEIF.unit(CraftedHEIF.parameterSet(small)) }
        let heic = CraftedHEIF(items: [Item(size: small, coded: small, data: sets)]).data()
        #expect(reason(heic) == "an item has 2001 headers")
        let headers = (0..<2000).reduce(Data()) { data, _ in data + CraftedHEIF.sequenceHeader(small) }
        let item = Item(type: "av01", size: small, coded: small, data: headers)
        #expect(reason(CraftedHEIF(items: [item], brand: "avif").data()) == "an item has 2001 headers")
    }

    /// Sets of other layers are read otherwise, and the decoder passes over them.
    @Test func otherLayersDoNotCount() throws {
        var set = CraftedHEIF.parameterSet(huge)
        set[1] |= 8
        let file = CraftedHEIF(items: [Item(size: small, coded: small, data: CraftedHEIF.unit(set))]).data()
        #expect(try coders.plan(file).info.size == small)
    }

    @Test func framesThatAreNotShownAreFew() {
        let frames = (0..<100).reduce(Data()) { data, _ in data + CraftedHEIF.obu(6, Data([0])) }
        let item = Item(type: "av01", size: huge, coded: huge, data: CraftedHEIF.sequenceHeader(huge) + frames)
        #expect(reason(CraftedHEIF(items: [item], brand: "avif").data()) == "an item has 100 pictures")
    }

    // MARK: Tables that are read in two ways

    private static func name(_ text: String) -> Data { Data(text.utf8) }

    /// The bytes of a box, its head included.
    private static func box(_ name: String, in file: Data) throws -> Range<Data.Index> {
        let start = try #require(file.range(of: Data(name.utf8))).lowerBound - 4
        return start..<start + file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Puts bytes in front of a box, and makes the boxes around it as much longer.
    private static func insert(
        _ bytes: Data, before name: String, within: [String], in file: Data
    ) throws -> Data {
        var result = file
        let place = try box(name, in: file).lowerBound
        for outer in within {
            let start = try box(outer, in: file).lowerBound
            let length = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } + bytes.count
            result.replaceSubrange(start..<start + 4, with: (0..<4).map { UInt8(length >> (24 - $0 * 8) & 255) })
        }
        result.insert(contentsOf: bytes, at: place)
        return result
    }

    /// Where there are two tables, one library reads the first, another one the last.
    @Test(arguments: [
        ("meta", [] as [String]), ("pitm", ["meta"]), ("iinf", ["meta"]), ("iprp", ["meta"]), ("iloc", ["meta"]),
        ("ipco", ["meta", "iprp"]), ("infe", ["meta", "iinf"]),
    ])
    func aTableStandsThereOnce(_ name: String, within: [String]) throws {
        for (type, brand) in [("hvc1", "heic"), ("av01", "avif")] {
            let lie = CraftedHEIF(items: [Item(type: type, size: small, coded: huge)], brand: brand).data()
            let honest = CraftedHEIF(items: [Item(type: type, size: small, coded: small)], brand: brand).data()
            // In front of the table that the other file has.
            let both = try Self.insert(honest[Self.box(name, in: honest)], before: name, within: within, in: lie)
            let found = try #require(self.reason(both))
            #expect(found == (name == "infe" ? "it declares an item twice" : "it has 2 boxes \(name)"))
        }
    }

    /// The libraries ignore boxes whose names are not text, and read on.
    @Test(arguments: [("pitm", ["meta"]), ("ipco", ["meta", "iprp"]), ("hvcC", ["meta", "iprp", "ipco"])])
    func aBoxWithAStrangeNameHidesNothing(_ name: String, within: [String]) throws {
        let lie = CraftedHEIF(items: [Item(size: small, coded: huge)]).data()
        var file = try Self.insert(Data([0, 0, 0, 8, 1, 2, 3, 4]), before: name, within: within, in: lie)
        if name == "hvcC" {
            // The box of the codec is the third property now.
            let table = try Self.box("ipma", in: file)
            file[table.upperBound - 1] = 3
        }
        #expect(reason(file) == "a picture of 64x64 is coded as 8192x8192")
    }

    /// A table behind bytes that are not a box does not count.
    @Test func theFileEndsWhereNoBoxBegins() throws {
        for (type, brand) in [("hvc1", "heic"), ("av01", "avif")] {
            let lie = CraftedHEIF(items: [Item(type: type, size: small, coded: huge)], brand: brand).data()
            let file = try Self.insert(Data([0, 0, 0, 8, 1, 2, 3, 4]), before: "meta", within: [], in: lie)
            #expect(throws: CodecError.self) { try coders.plan(file) }
            #expect(throws: CodecError.self) { try coders.decode(file) }
        }
    }

    /// Sums of 64-bit numbers that wrap around to the picture's position, or trap, and invalid widths.
    @Test(arguments: [0x88, 0x80, 0x08, 0x22, 0x11, 0x33, 0x4F])
    func placesOutOfReachAreRefused(_ sizes: UInt8) throws {
        for (type, brand) in [("hvc1", "heic"), ("av01", "avif")] {
            let data = CraftedHEIF.unit(CraftedHEIF.parameterSet(huge))
            let item = Item(type: type, size: small, coded: small, data: data)
            var file = CraftedHEIF(items: [item], brand: brand).data()
            var table = Data([1, 0, 0, 0, sizes, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
            table += Data(repeating: 0xFF, count: 8) + Data([0, 1]) + Data(repeating: 0xFF, count: 32)
            file = try Self.withPlaces(table, in: file)
            let found = try #require(self.reason(file))
            #expect(
                ["an item's location is out of range", "its item locations (iloc) cannot be read"].contains(found),
                "\(found)")
        }
    }

    /// - Returns: the file with other places of its items.
    private static func withPlaces(_ table: Data, in file: Data) throws -> Data {
        let old = try box("iloc", in: file)
        let meta = try box("meta", in: file)
        var file = file
        file.replaceSubrange(old, with: bytes(table.count + 8) + name("iloc") + table)
        let whole = meta.count - old.count + table.count + 8
        file.replaceSubrange(meta.lowerBound..<meta.lowerBound + 4, with: bytes(whole))
        return file
    }

    private static func bytes(_ value: Int) -> Data { withUnsafeBytes(of: UInt32(value).bigEndian) { Data($0) } }

    /// Places of which each is the whole file: without a byte of their own, and with four.
    @Test(arguments: [(0, 2), (0, 65535), (4, 5000)]) func placesShareNoData(_ width: Int, count: Int) throws {
        let data = CraftedHEIF.unit(CraftedHEIF.parameterSet(huge))
        for (type, brand) in [("hvc1", "heic"), ("av01", "avif")] {
            let item = Item(type: type, size: small, coded: small, data: data)
            let file = CraftedHEIF(items: [item], brand: brand).data()
            var table = Data([1, 0, 0, 0, UInt8(width), 0, 0, 1, 0, 1, 0, 0, 0, 0])
            table += Data([UInt8(count >> 8), UInt8(count & 255)]) + Data(count: width * count)
            let found = try #require(self.reason(try Self.withPlaces(table, in: file)))
            #expect(found == (width == 0 ? "an item repeats its data" : "its pictures share their data"))
        }
    }

    /// The second of two places is cut off; the first one leads to a picture that is larger than the item declares.
    @Test func thePlacesOfATableThatIsCutCount() throws {
        let data = CraftedHEIF.unit(CraftedHEIF.parameterSet(huge))
        let item = Item(type: "hvc1", size: small, coded: small, data: data)
        let file = CraftedHEIF(items: [item], brand: "heic").data()
        func table(_ start: Int) -> Data {
            Data([1, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 2]) + Self.bytes(start) + Self.bytes(data.count)
        }
        let start = try #require(try Self.withPlaces(table(0), in: file).range(of: data)).lowerBound
        let found = try #require(self.reason(try Self.withPlaces(table(start), in: file)))
        #expect(found.hasPrefix("a picture of 64x64 is coded as"), "\(found)")
    }

    /// An input of 274 bytes with 64,000 places for one item, found by fuzzing.
    @Test func manyPlacesInFewBytes() throws {
        #expect(reason(try Fixture.read("hostile/data-repeated.avif")) == "an item repeats its data")
    }

    /// Each track would have the same data read again.
    @Test func tracksShareNoData() throws {
        let units = Data((0..<400_000).map { UInt8($0 % 2 == 0 ? 0x12 : 0) })
        let one = CraftedHEIF(items: [Item(type: "mime", data: units)], brand: "avis", track: small).data()
        let track = one[try Self.box("trak", in: one)]
        let many = (0..<2000).reduce(into: Data()) { data, _ in data += track }
        let file = try Self.insert(many, before: "trak", within: ["moov"], in: one)
        #expect(reason(file) == "its pictures share their data")
    }

    // MARK: JPEG and PNG

    /// The sides in a header of a JPEG's frame, or of a PNG.
    private func enlarged(_ header: Data, at place: Int, bytes: Int) -> Data {
        var header = header
        for side in 0..<2 {
            let start = header.startIndex + place + side * bytes
            header.replaceSubrange(start..<start + bytes, with: Data(count: bytes - 2) + [0xFF, 0xDC])
        }
        return header
    }

    /// Whichever of two headers the decoder believes, nothing larger than what was checked is decoded.
    @Test(arguments: [true, false]) func aSecondHeaderIsNoWayRound(isFirst: Bool) throws {
        for (name, mark) in [
            ("jpeg/baseline-420.jpg", [0xFF, 0xC0] as [UInt8]), ("jpeg/progressive.jpg", [0xFF, 0xC2]),
        ] {
            let file = try Fixture.read(name)
            let start = try #require(file.range(of: Data(mark))).lowerBound
            let end = start + 2 + (Int(file[start + 2]) << 8 | Int(file[start + 3]))
            let liar = enlarged(file[start..<end], at: 5, bytes: 2)
            let both = isFirst ? liar + file[start..<end] : file[start..<end] + liar
            #expect(throws: CodecError.self) { try coders.decode(file[..<start] + both + file[end...]) }
        }
        let file = try Fixture.read("png/rgb8.png")
        var liar = Data()
        let header = enlarged(file[12..<29], at: 4, bytes: 4)
        APNGFrameReader.append(header, to: &liar)
        let both = isFirst ? liar + file[8..<33] : file[8..<33] + liar
        #expect(throws: CodecError.self) { try coders.decode(file[..<8] + both + file[33...]) }
    }

    // MARK: WebP

    /// libwebp reads the transforms of a large picture before it detects that there is no room for it.
    @Test func aFrameIsAsLargeAsItsPlace() throws {
        var file = try Fixture.read("animation/mixed-both.webp")
        let frames = file.ranges(of: Data("ANMF".utf8)).map(\.lowerBound)
        // Where a frame's pixels begin, its size is made the largest.
        let start = try #require(file[frames[2]...].range(of: Data("VP8".utf8))).lowerBound
        let isLossless = file[start + 3] == UInt8(ascii: "L")
        let place = isLossless ? start + 9 : start + 14
        file[place] |= 0xFF
        file[place + 1] |= 0x3F
        let reader = try WebPCoder().frames(of: file, info: try coders.probe(file))
        #expect(throws: CodecError.damaged(.webp, reason: "the size of a frame's pixels differs from its rectangle")) {
            try reader.pixels(at: 2, context: .uncancellable)
        }
        let whole = try Fixture.read("animation/mixed-both.webp")
        let honest = try WebPCoder().frames(of: whole, info: try coders.probe(whole))
        let second = try reader.pixels(at: 1, context: .uncancellable)
        #expect(try second.bytes == honest.pixels(at: 1, context: .uncancellable).bytes)
        #expect(throws: CodecError.self) { try coders.decode(file) }
    }

    // MARK: TIFF

    /// A directory of little-endian longs.
    private func tiff(_ tags: [(Int, Int)]) -> Data {
        func little(_ value: Int, _ bytes: Int) -> Data { Data((0..<bytes).map { UInt8(value >> ($0 * 8) & 255) }) }
        let entries = tags.reduce(Data()) { $0 + little($1.0, 2) + little(4, 2) + little(1, 4) + little($1.1, 4) }
        return Data("II*\0".utf8) + little(8, 4) + little(tags.count, 2) + entries + Data(count: 64)
    }

    /// A strip is unpacked with all its channels, however few of them are shown, and libjpeg keeps what comes in scans.
    @Test func channelsAndScansCount() throws {
        let tags = [(256, 64), (257, 64), (258, 8), (259, 1), (262, 1), (277, 1), (278, 64), (273, 100), (279, 1)]
        let plain = try coders.plan(tiff(tags)).workingBytes
        let many = tiff(tags.map { $0.0 == 277 ? (277, 30_000) : $0 })
        #expect(try coders.plan(many).workingBytes > 64 * 64 * 30_000)
        #expect(throws: CodecError.self) { try coders.decode(many) }
        let jpeg = tiff(tags.map { $0.0 == 259 ? (259, 7) : $0 })
        #expect(try coders.plan(jpeg).workingBytes == plain)
        #expect(try coders.plan(jpeg + [0xFF, 0xC2]).workingBytes >= plain + 8 * 64 * 65_536)
        #expect(try coders.plan(jpeg + [0xFF, 0xDA, 0, 12]).workingBytes == plain)
    }

    /// Also of a picture inside of a drawing, where the tile's bytes are more than a number holds.
    @Test func tilesInsideOfADrawingCount() throws {
        let tags = [(256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (277, 1), (322, 1 << 31), (323, 1 << 31)]
        let picture = tiff(tags + [(324, 100), (325, 64)]).base64EncodedString()
        let drawing = Drawing.document("<image width='9' height='9' href='data:image/tiff;base64,\(picture)'/>")
        let error = #expect(throws: CodecError.self) { try coders.decode(drawing) }
        #expect(error?.code == "limitExceeded")
    }

    @Test func tilesLargerThanTheImageCount() throws {
        let tags = [(256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (277, 1)]
        let tile = tiff(tags + [(322, 65_520), (323, 65_520), (324, 100), (325, 64)])
        #expect(throws: CodecError.limitExceeded("pixels", value: 65_520 * 65_520, limit: 1 << 28)) {
            try coders.plan(tile)
        }
        let some = tiff(tags + [(322, 1024), (323, 1024), (324, 100), (325, 64)])
        #expect(try coders.plan(some).workingBytes >= 1024 * 1024 * 4)
        // Strips end with the image.
        let strip = tiff(tags + [(278, 1 << 30), (273, 100), (279, 1)])
        #expect(try coders.decode(strip).size == PixelSize(1, 1))
    }
}
