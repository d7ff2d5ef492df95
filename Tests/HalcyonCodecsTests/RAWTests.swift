import CRAW
import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonRAW

/// Raw files of cameras; their pixels are in the goldens.
@Suite struct RAWTests {
    private let registry = CoderRegistry.standard()
    private static let fixtures = Fixture.all.filter { $0.format == "raw" }

    private func preview(of data: Data) throws -> RAWFile.Preview { try data.read { try RAWFile($0).preview } }

    private func bytes(of preview: RAWFile.Preview, in data: Data) -> Data {
        data.dropFirst(preview.place.lowerBound).prefix(preview.place.count)
    }

    // MARK: - The preview

    /// LibRaw, an independent reader, takes the same bytes out of the file, and turns them in the same way. Debian's is older than
    /// the cameras of OM System, whose notes it does not read.
    @Test(arguments: fixtures.filter { $0.file != "raw/om-system.orf" })
    func previewIsTheOneThatLibRawFinds(_ fixture: Fixture) throws {
        var data = try fixture.data()
        let found = try preview(of: data)
        let raw = try #require(libraw_init(0))
        defer { libraw_close(raw) }
        // LibRaw reads from these bytes until it is closed.
        try data.withUnsafeMutableBytes { file in
            try #require(libraw_open_buffer(raw, file.baseAddress, file.count) == 0)
            try #require(libraw_unpack_thumb(raw) == 0)
            let thumbnail = raw.pointee.thumbnail
            let bytes = Data(bytes: thumbnail.thumb, count: Int(thumbnail.tlength))
            #expect(bytes == Data(file[found.place]))
            #expect(found.isJPEG == (thumbnail.tformat == LIBRAW_THUMBNAIL_JPEG))
            #expect(PixelSize(Int(thumbnail.twidth), Int(thumbnail.theight)) == found.info.storedSize)
        }
        let flips: [Int32: Orientation] = [
            0: .up, 1: .upMirrored, 2: .downMirrored, 3: .down, 4: .leftMirrored, 5: .left, 6: .right,
            7: .rightMirrored,
        ]
        #expect(flips[raw.pointee.sizes.flip] == found.info.orientation)
    }

    @Test func theMakersAreThere() {
        let endings = Set(Self.fixtures.compactMap { $0.file.split(separator: ".").last.map(String.init) })
        #expect(endings == ["dng", "nef", "cr2", "cr3", "arw", "pef", "orf", "rw2", "raf"])
        for ending in endings { #expect(ImageFormat(name: ending) == .raw) }
    }

    /// The notes begin with other names and count from other places; the settings in them are the same.
    @Test func theNotesOfAllOlympusCamerasAreRead() throws {
        let files = try ["olympus", "olympus-old", "om-system"].map { try Fixture.read("raw/\($0).orf") }
        let previews = try files.map { bytes(of: try preview(of: $0), in: $0) }
        #expect(previews[1] == previews[0] && previews[2] == previews[0])
        #expect(try files.map { try registry.probe($0).size } == [PixelSize](repeating: PixelSize(64, 96), count: 3))
    }

    @Test func allOrientationsLookTheSame() throws {
        let upright = try registry.decode(Fixture.read("raw/orientation-1.dng")).bitmap
        for orientation in Orientation.allCases {
            let image = try registry.decode(Fixture.read("raw/orientation-\(orientation.rawValue).dng"))
            #expect(image.bitmap.bytes == (try upright.oriented(orientation).bytes), "\(orientation)")
            #expect(image.info.orientation == orientation)
            #expect(image.info.format == .raw)
        }
    }

    /// An orientation in the preview counts instead of the file's, never with it.
    @Test func orientationIsAppliedOnce() throws {
        let turned = try registry.decode(Fixture.read("raw/orientation-6.dng")).bitmap
        let own = try Fixture.read("raw/own-orientation.dng")
        #expect(try registry.decode(own).bitmap.bytes == turned.bytes)
        let jpeg = bytes(of: try preview(of: own), in: own)
        let upright = RawBuilder(jpeg) { [RawBuilder.dng + [(274, [1])] + $0] }
        #expect(try registry.decode(upright.data).bitmap.bytes == turned.bytes)
    }

    @Test(arguments: [nil, 30, 17, 5])
    func aDecodeIsThatOfTheJPEG(_ side: Int?) throws {
        var options = DecodeOptions(target: side.map { TargetSize(PixelSize($0, $0)) })
        for name in ["in-sub-directory.dng", "canon.cr3", "pentax.pef"] {
            let data = try Fixture.read("raw/\(name)")
            let found = try preview(of: data)
            let jpeg = turned(bytes(of: found, in: data), found.info.orientation)
            #expect(
                try registry.decode(data, options: options).bitmap.bytes
                    == registry.decode(jpeg, options: options).bitmap.bytes)
            options.region = PixelRect(x: 11, y: 3, width: 40, height: 41)
            #expect(
                try registry.decode(data, options: options).bitmap.bytes
                    == registry.decode(jpeg, options: options).bitmap.bytes)
            options.region = nil
            #expect(
                try registry.plan(data, options: options).workingBytes
                    == registry.plan(jpeg, options: options).workingBytes)
        }
    }

    /// Returns a JPEG with this orientation before its other segments.
    private func turned(_ jpeg: Data, _ orientation: Orientation) -> Data {
        let body = Data("Exif\0\0".utf8) + Exif.data(orientation)
        return jpeg.prefix(2) + [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body + jpeg.dropFirst(2)
    }

    @Test func theLargestPreviewCounts() throws {
        let small = try picture(PixelSize(20, 16)), large = try picture(PixelSize(60, 40))
        for pictures in [[small, large], [large, small]] {
            let file = RawBuilder(pictures[0] + pictures[1]) { _, place in
                [
                    [(274, [1]), (513, [place]), (514, [pictures[0].count])] + RawBuilder.dng,
                    [(513, [place + pictures[0].count]), (514, [pictures[1].count])],
                ]
            }
            #expect(try registry.probe(file.data).size == PixelSize(60, 40))
        }
    }

    /// A progressive preview keeps its coefficients, and a profile of its own is converted, as in a JPEG.
    @Test func aPreviewHasItsOwnCosts() throws {
        let jpeg = try Fixture.read("jpeg/progressive.jpg")
        let file = RawBuilder(jpeg) { [RawBuilder.dng + $0] }
        #expect(try registry.plan(file.data).workingBytes == registry.plan(jpeg).workingBytes)
        let wide = try Fixture.read("color/p3.jpg")
        let colored = RawBuilder(wide) { [RawBuilder.dng + $0] }
        #expect(try registry.decode(colored.data).bitmap.bytes == registry.decode(wide).bitmap.bytes)
        #expect(try registry.probe(colored.data).colorSpace == registry.probe(wide).colorSpace)
    }

    // MARK: - Its signature

    @Test func aFileWithoutItsCoderIsNoTIFF() throws {
        registry.removeAll { $0 is RAWCoder }
        for fixture in Self.fixtures {
            #expect(throws: CodecError.unsupportedFormat(.raw)) { try registry.decode(fixture.data()) }
        }
    }

    /// Only a version of DNG, or values of a sensor in a camera's file, make a raw file of a TIFF.
    @Test func aTIFFIsNoRawFile() throws {
        let jpeg = try picture(PixelSize(20, 16))
        let sensor = [(262, [32_803])], colors = [(262, [2])], maker = [(271, [65])]
        func format(_ first: [(Int, [Int])], _ second: [(Int, [Int])]) -> ImageFormat? {
            let file = RawBuilder(jpeg) { _, _ in [first + [(330, [RawBuilder.place(1)])], second] }
            return FormatSniffer.format(of: file.data)
        }
        #expect(format(maker + colors, colors) == .tiff)
        #expect(format(colors, sensor) == .tiff)
        #expect(format(maker + colors, sensor) == .raw)
        #expect(format(sensor, colors) == .raw)
        #expect(format([(262, [34_892])], colors) == .raw)
        #expect(format(RawBuilder.dng + colors, colors) == .raw)
        #expect(format([(50_706, [])] + colors, colors) == .raw)
        #expect(FormatSniffer.format(of: Data("II*\0".utf8) + [0, 1, 0, 0]) == .tiff)
    }

    private func picture(_ size: PixelSize) throws -> Data {
        try registry.encode(sampleImage(size), as: .jpeg)
    }
}

/// Hostile raw files.
@Suite struct RAWBoundTests {
    private let registry = CoderRegistry.standard()

    private func error(_ file: RawBuilder) -> CodecError? {
        #expect(throws: CodecError.self) { try registry.decode(file.data) }
    }

    private func picture(_ size: PixelSize = PixelSize(20, 16)) throws -> Data {
        try registry.encode(sampleImage(size), as: .jpeg)
    }

    @Test func aFileWithoutAPreviewIsRefused() throws {
        let none = CodecError.damaged(.raw, reason: "it has no preview")
        #expect(error(RawBuilder(Data(count: 100)) { _, _ in [RawBuilder.dng] }) == none)
        // Noise in its place, and values of a sensor, which are a lossless JPEG or marked as such.
        #expect(error(RawBuilder(Data(count: 100)) { [RawBuilder.dng + $0] }) == none)
        let jpeg = try picture()
        var lossless = jpeg
        let frame = try #require(jpeg.range(of: Data([0xFF, 0xC0]))).lowerBound
        lossless[frame + 1] = 0xC3
        #expect(error(RawBuilder(lossless) { [RawBuilder.dng + $0] }) == none)
        for photometric in [32_803, 34_892, 52_527, 51_177] {
            let strip = [(254, [0]), (259, [7]), (262, [photometric]), (279, [jpeg.count])]
            #expect(
                error(RawBuilder(jpeg) { _, place in [RawBuilder.dng + strip + [(273, [place])]] }) == none,
                "\(photometric)")
        }
        // Depth and masks.
        for kind in [4, 8, 16] {
            let strip = [(254, [kind]), (259, [7]), (262, [6]), (279, [jpeg.count])]
            #expect(
                error(RawBuilder(jpeg) { _, place in [RawBuilder.dng + strip + [(273, [place])]] }) == none, "\(kind)")
        }
        // The first of several strips is not the picture.
        let strips = [(254, [1]), (259, [7]), (262, [6]), (279, [jpeg.count, jpeg.count])]
        #expect(
            error(
                RawBuilder(jpeg + jpeg) { _, place in
                    [RawBuilder.dng + strips + [(273, [place, place + jpeg.count])]]
                }) == none)
    }

    /// The largest preview is not replaced by a smaller one because it is cut off.
    @Test func aMissingPreviewIsAnError() throws {
        let cut = CodecError.damaged(.raw, reason: "it was cut off before the end of its preview")
        let small = try picture(), large = try picture(PixelSize(60, 40))
        let file = RawBuilder(small + large) { _, place in
            [
                RawBuilder.dng + [(513, [place]), (514, [small.count])],
                [(513, [place + small.count]), (514, [large.count])],
            ]
        }
        #expect(try registry.probe(file.data).size == PixelSize(60, 40))
        for missing in [1, large.count - 2, large.count, large.count + 5] {
            #expect(throws: cut) { try registry.decode(file.data.dropLast(missing)) }
        }
        // Places beyond the file, and beyond all numbers.
        for place in [1 << 20, 0xFFFF_FFFF] {
            let file = RawBuilder(small) { [RawBuilder.dng + $0, [(513, [place]), (514, [0xFFFF_FFFF])]] }
            #expect(error(file) == cut)
            #expect(error(RawBuilder(small) { [RawBuilder.dng + $0 + [(330, [place])]] }) == cut)
        }
        // One that would be smaller than what is there does not count.
        let less = RawBuilder(small) { [RawBuilder.dng + $0, [(513, [1 << 20]), (514, [small.count])]] }
        #expect(try registry.decode(less.data).size == PixelSize(20, 16))
    }

    @Test func directoriesAreFew() throws {
        let jpeg = try picture()
        // A ring, of the first one and inside of it.
        let ring = RawBuilder(jpeg, next: [0: 0]) { [RawBuilder.dng + $0 + [(330, [8])]] }
        #expect(try registry.decode(ring.data).size == PixelSize(20, 16))
        let both = RawBuilder(jpeg, next: [1: 0]) { [RawBuilder.dng + $0, [(330, [8])]] }
        #expect(try registry.decode(both.data).size == PixelSize(20, 16))
        // Thousands inside of the first, of which sixteen count, and a chain of which 64 do.
        func parts(_ place: Int) -> RawBuilder {
            RawBuilder(jpeg, slots: 24, isChain: false) { picture, _ in
                let places = (1...20).map(RawBuilder.place)
                let all = [[Int]](repeating: places, count: 200).flatMap { $0 }
                return [RawBuilder.dng + [(330, all)]] + (1...20).map { $0 == place ? picture : [(256, [$0])] }
            }
        }
        #expect(try registry.decode(parts(16).data).size == PixelSize(20, 16))
        #expect(error(parts(17))?.code == "damagedImage")
        func chain(_ place: Int) -> RawBuilder {
            RawBuilder(jpeg, slots: 80) { picture, _ in
                (0..<80).map { $0 == place ? picture : $0 == 0 ? RawBuilder.dng : [(256, [$0])] }
            }
        }
        #expect(try registry.decode(chain(63).data).size == PixelSize(20, 16))
        #expect(error(chain(64)) == .damaged(.raw, reason: "it has no preview"))
    }

    @Test func theLimitsHoldForThePreview() throws {
        var jpeg = try picture()
        let frame = try #require(jpeg.range(of: Data([0xFF, 0xC0]))).lowerBound
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        let bomb = RawBuilder(jpeg) { [RawBuilder.dng + $0] }
        #expect(error(bomb)?.code == "limitExceeded")
        let file = RawBuilder(try picture(PixelSize(60, 40))) { [RawBuilder.dng + $0] }.data
        let options = DecodeOptions(limits: DecodeLimits(maximumPixels: 2399))
        #expect(throws: CodecError.limitExceeded("pixels", value: 2400, limit: 2399)) {
            try registry.decode(file, options: options)
        }
        // Plain pixels lie in the file.
        func plain(_ width: Int, _ height: Int) -> RawBuilder {
            RawBuilder(Data(count: 48)) { _, place in
                [
                    RawBuilder.dng + [
                        (254, [1]), (256, [width]), (257, [height]), (258, [8, 8, 8]), (259, [1]), (262, [2]),
                        (273, [place]),
                        (277, [3]), (279, [48]),
                    ]
                ]
            }
        }
        #expect(try registry.decode(plain(4, 4).data).size == PixelSize(4, 4))
        for (width, height) in [(5, 4), (0, 4), (1 << 31, 1 << 31), (0xFFFF_FFFF, 1)] {
            #expect(error(plain(width, height)) == .damaged(.raw, reason: "it has no preview"))
        }
    }

    /// Boxes by the hundred thousand, and a track that is nowhere.
    @Test func boxesAreFew() throws {
        let file = try Fixture.read("raw/canon.cr3")
        let head = file.prefix(24)
        let free = Data([0, 0, 0, 8]) + Data("free".utf8)
        let many = head + (0..<100_000).reduce(into: Data()) { boxes, _ in boxes += free } + file.dropFirst(24)
        #expect(throws: CodecError.damaged(.raw, reason: "it has no preview")) { try registry.decode(many) }
        var lost = file
        let place = try #require(file.range(of: Data("co64".utf8))).upperBound
        lost.replaceSubrange(place + 8..<place + 16, with: [UInt8](repeating: 0xFF, count: 8))
        #expect(throws: CodecError.damaged(.raw, reason: "it was cut off before the end of its preview")) {
            try registry.decode(lost)
        }
    }
}

/// A raw file of directories in slots of their own, and what they refer to behind them. Every number is a long one.
struct RawBuilder {
    /// The version that makes a file a DNG.
    static let dng: [(Int, [Int])] = [(50_706, [1])]
    private static let slot = 1 << 9

    let data: Data

    /// The place of a directory.
    static func place(_ index: Int) -> Int { 8 + index * slot }

    /// - Parameters:
    ///   - next: the directory that follows one, if it is not the next one.
    ///   - isChain: whether each directory is followed by the next one.
    ///   - directories: the entries, given those of a JPEG that is `content`, and its place.
    init(
        _ content: Data, next: [Int: Int] = [:], slots: Int = 2, isChain: Bool = true,
        directories: ([(Int, [Int])], Int) -> [[(Int, [Int])]]
    ) {
        // Lists that do not fit into an entry lie behind the content.
        let place = Self.place(slots)
        let all = directories([(513, [place]), (514, [content.count])], place)
        var data = Data("II*\0".utf8) + Self.long(8) + Data(count: place - 8) + content
        for (index, entries) in all.enumerated() {
            var directory = Self.short(entries.count)
            for (tag, values) in entries {
                directory += Self.short(tag) + Self.short(4) + Self.long(values.count)
                directory += values.count > 1 ? Self.long(data.count) : Self.long(values.first ?? 0)
                if values.count > 1 { data += values.flatMap(Self.long) }
            }
            let following = next[index] ?? (isChain && index + 1 < all.count ? index + 1 : nil)
            directory += Self.long(following.map(Self.place) ?? 0)
            data.replaceSubrange(Self.place(index)..<Self.place(index) + directory.count, with: directory)
        }
        self.data = data
    }

    init(_ content: Data, next: [Int: Int] = [:], directories: ([(Int, [Int])]) -> [[(Int, [Int])]]) {
        self.init(content, next: next) { picture, _ in directories(picture) }
    }

    private static func short(_ value: Int) -> Data { Data([UInt8(value & 255), UInt8(value >> 8 & 255)]) }
    private static func long(_ value: Int) -> Data { short(value) + short(value >> 16) }
}
