import Foundation
import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs

/// Thumbnails of HEIC and AVIF: blue pictures with red ones, so that the colour of a result tells where it is from.
@Suite(.timeLimit(.minutes(10))) struct ISOThumbnailTests {
    private enum Tone: UInt32 {
        case red = 0xFFC0_2020
        case blue = 0xFF20_20C0
    }

    private let registry = CoderRegistry.standard()

    private func plain(_ size: PixelSize, _ tone: Tone, as format: ImageFormat) throws -> Data {
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                bytes.storeBytes(of: tone.rawValue, toByteOffset: offset, as: UInt32.self)
            }
        }
        return try registry.encode(Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size)), as: format)
    }

    private func tone(_ image: Image) -> Tone? {
        image.bitmap.pixel(x: image.width / 2, y: image.height / 2).map { $0.red > $0.blue ? .red : .blue }
    }

    private func file(
        _ format: ImageFormat = .heic, _ size: PixelSize = PixelSize(512, 384),
        thumbnail: PixelSize = PixelSize(128, 96), _ change: (inout ThumbnailFile) -> Void = { _ in }
    ) throws -> Data {
        var file = ThumbnailFile(try plain(size, .blue, as: format), try plain(thumbnail, .red, as: format))
        change(&file)
        return file.data
    }

    private func options(_ width: Int, _ height: Int, _ mode: ResizeMode = .fit) -> DecodeOptions {
        DecodeOptions(target: TargetSize(PixelSize(width, height), mode: mode), usesEmbeddedThumbnail: true)
    }

    /// Returns the tone of a small decode.
    private func small(_ file: Data) throws -> Tone? { tone(try registry.decode(file, options: options(8, 8))) }

    private static func turn(_ angle: UInt8) -> Data { ThumbnailFile.box("irot", Data([angle])) }
    private static func mirror(_ axis: UInt8) -> Data { ThumbnailFile.box("imir", Data([axis])) }

    // MARK: - In place of the picture

    @Test(arguments: [ImageFormat.heic, .avif])
    func thumbnailStandsForResultsThatAreNoLarger(_ format: ImageFormat) throws {
        for isFirst in [true, false] {
            let file = try file(format) { $0.isThumbnailFirst = isFirst }
            for (target, tone) in [(8, Tone.red), (128, .red), (129, .blue), (512, .blue)] {
                let image = try registry.decode(file, options: options(target, target))
                #expect(self.tone(image) == tone, "\(target)")
                #expect(image.size == PixelSize(target, (target * 3 + 2) / 4))
                #expect(image.info == (try registry.probe(file)))
            }
            #expect(tone(try registry.decode(file)) == .blue)
            var without = options(8, 8)
            without.usesEmbeddedThumbnail = false
            #expect(tone(try registry.decode(file, options: without)) == .blue)
        }
    }

    /// The memory of the thumbnail's own decode, however large the picture is.
    @Test(arguments: [ImageFormat.heic, .avif])
    func reservationIsThatOfTheThumbnail(_ format: ImageFormat) throws {
        let file = try file(format, PixelSize(1280, 960))
        let plan = try registry.plan(file, options: options(40, 40))
        #expect(plan.finalSize == PixelSize(40, 30))
        #expect(plan.workingBytes < 1 << 18)
        #expect(
            try registry.plan(file, options: DecodeOptions(target: TargetSize(PixelSize(40, 40)))).workingBytes > 1
                << 22)
    }

    @Test(arguments: [
        (PixelSize(480, 320), PixelSize(192, 128), true), (PixelSize(480, 320), PixelSize(192, 144), false),
        (PixelSize(384, 512), PixelSize(128, 96), false), (PixelSize(96, 72), PixelSize(128, 96), false),
        (PixelSize(1024, 768), PixelSize(512, 384), true), (PixelSize(1040, 784), PixelSize(520, 392), false),
    ])
    func thumbnailHasTheShapeOfThePicture(picture: PixelSize, thumbnail: PixelSize, stands: Bool) throws {
        #expect(try small(file(.heic, picture, thumbnail: thumbnail)) == (stands ? .red : .blue))
    }

    /// The largest counts, of those that are small enough.
    @Test func oneOfSeveralIsTaken() throws {
        let large = ThumbnailFile(
            try plain(PixelSize(640, 480), .blue, as: .heic), try plain(PixelSize(256, 192), .red, as: .heic))
        let little = try plain(PixelSize(128, 96), .blue, as: .heic)
        var parts = ThumbnailFile(try plain(PixelSize(1280, 960), .blue, as: .heic), little)
        parts.parts += large.parts
        parts.references = (2...4).map { ("thmb", $0, [1]) }
        let file = parts.data
        #expect(try small(file) == .red)
        #expect(tone(try registry.decode(file, options: options(256, 256))) == .red)
    }

    // MARK: - Orientation and colours

    @Test(arguments: [ImageFormat.heic, .avif], 0..<8)
    func thumbnailIsTurnedAsItsPicture(_ format: ImageFormat, _ number: Int) throws {
        let turns = [Self.turn(UInt8(number & 3))] + (number & 4 != 0 ? [Self.mirror(UInt8(number & 1))] : [])
        let size = PixelSize(256, 192)
        let image = try sampleImage(size)
        let picture = try registry.encode(image, as: format)
        let geometry = ResizeGeometry(source: size, box: PixelSize(128, 96), mode: .fit, upscale: false)
        let little = try registry.encode(
            image.replacing(image.bitmap.resampled(geometry, filter: .area, context: .uncancellable)), as: format)
        var file = ThumbnailFile(picture, little)
        file.parts[0].properties += turns
        file.parts[1].properties += turns
        let box = DecodeOptions(target: TargetSize(PixelSize(128, 128)))
        var own = box
        own.usesEmbeddedThumbnail = true
        let small = try registry.decode(file.data, options: own)
        let expected = try registry.decode(file.alone(1), options: box)
        #expect(small.bitmap.bytes == expected.bitmap.bytes)
        #expect(small.info == (try registry.probe(file.data)))
        #expect(try small.bitmap.bytes != registry.decode(file.data, options: box).bitmap.bytes)
        #expect(try signalToNoise(small.bitmap.bytes, registry.decode(file.data, options: box).bitmap.bytes) > 20)
    }

    /// One that is turned in another way than the picture may be wrong, or the picture may: it is not used.
    @Test func aThumbnailThatIsTurnedOtherwiseIsNone() throws {
        let upright = try file()
        #expect(try small(upright) == .red)
        let cut = Self.aperture([512, 1, 380, 1, 0, 1, 0, 1])
        for (picture, thumbnail) in [
            ([Self.turn(2)], []), ([], [Self.turn(2)]), ([Self.turn(1)], [Self.turn(3)]),
            ([Self.mirror(0)], [Self.mirror(1)]),
            ([Self.mirror(0)], []), ([Self.turn(2), Self.mirror(0)], [Self.mirror(0), Self.turn(2)]), ([cut], []),
            ([cut], [cut]),
        ] as [([Data], [Data])] {
            let file = try file {
                $0.parts[0].properties += picture
                $0.parts[1].properties += thumbnail
            }
            #expect(try small(file) == .blue)
        }
    }

    private static func aperture(_ numbers: [Int]) -> Data {
        ThumbnailFile.box("clap", numbers.reduce(Data()) { $0 + ThumbnailFile.long($1) })
    }

    /// Encoders fill the last blocks up and cut them off again; any other cut is of the picture alone.
    @Test func onlyPaddingIsCutOff() throws {
        let cuts: [([Int], Tone)] = [
            ([512, 1, 380, 1, 0, 1, -4, 2], .red), ([512, 1, 380, 1, 0, 1, -2, 1], .red),
            ([512, 1, 380, 1, 0, 1, 4, 2], .blue), ([512, 1, 380, 1, 0, 1, -3, 2], .blue),
            ([512, 1, 760, 2, 0, 1, -4, 2], .blue), ([512, 1, 380, 1, 0, 1, -4, 0], .blue),
            ([512, 1, 0, 1, 0, 1, -384, 2], .blue), ([512, 1, 388, 1, 0, 1, 4, 2], .blue),
        ]
        for (numbers, tone) in cuts {
            let file = try file { $0.parts[0].properties.append(Self.aperture(numbers)) }
            // libheif refuses some of them.
            guard (try? registry.decode(file)) != nil else { continue }
            #expect(try small(file) == tone, "\(numbers)")
        }
        // Not behind a turn.
        let turned = try file {
            $0.parts[0].properties += [Self.turn(0), Self.aperture([512, 1, 380, 1, 0, 1, -4, 2])]
        }
        #expect(try small(turned) == .blue)
        // More properties than are looked at.
        let many = try file { file in
            file.parts[0].properties += (0..<40).map { _ in ThumbnailFile.box("free", Data()) } + [Self.turn(2)]
        }
        #expect(try small(many) == .blue)
    }

    /// A thumbnail without colours has those of the picture; its own count otherwise.
    @Test(arguments: [ImageFormat.heic, .avif])
    func coloursAreThoseOfThePicture(_ format: ImageFormat) throws {
        let profile = try ThumbnailFile.box("colr", Data("prof".utf8) + Fixture.read("icc/p3.icc"))
        func colors(_ picture: Data?, _ thumbnail: Data?) throws -> ThumbnailFile {
            var file = try ThumbnailFile(
                registry.encode(sampleImage(PixelSize(256, 192)), as: format),
                registry.encode(sampleImage(PixelSize(128, 96)), as: format))
            for (part, color) in [picture, thumbnail].enumerated() {
                file.parts[part].properties.removeAll { $0.dropFirst(4).starts(with: Data("colr".utf8)) }
                if let color { file.parts[part].properties.append(color) }
            }
            return file
        }
        let box = DecodeOptions(target: TargetSize(PixelSize(40, 40)))
        var own = box
        own.usesEmbeddedThumbnail = true
        let wide = try registry.decode(colors(nil, profile).alone(1), options: box).bitmap.bytes
        let plain = try registry.decode(colors(nil, nil).alone(1), options: box).bitmap.bytes
        #expect(wide != plain)
        for (picture, thumbnail, expected) in [
            (nil, nil, plain), (profile, nil, wide), (profile, profile, wide), (nil, profile, wide),
        ] as [(Data?, Data?, [UInt8])] {
            #expect(try registry.decode(colors(picture, thumbnail).data, options: own).bitmap.bytes == expected)
        }
        // Stored colours are the picture's.
        var stored = own
        stored.color = .asStored
        #expect(try registry.decode(colors(profile, nil).data, options: stored).info.isPreview == false)
    }

    // MARK: - In the EXIF data

    private func exif(_ tone: Tone = .red) throws -> Data {
        let jpeg = try plain(PixelSize(128, 96), tone, as: .jpeg)
        return ThumbnailFile.long(0) + Exif.data(.right, thumbnail: jpeg)
    }

    @Test func aJPEGInTheExifDataStandsForThePicture() throws {
        let exif = try exif()
        for format in [ImageFormat.heic, .avif] {
            func file(_ change: (inout ThumbnailFile) -> Void = { _ in }) throws -> Data {
                try self.file(format) {
                    $0.references = []
                    $0.add("Exif", exif, as: "cdsc")
                    change(&$0)
                }
            }
            #expect(try small(file()) == .red)
            // The picture is turned, the pixels of the JPEG are not; and data that describes nothing is not looked at.
            #expect(try small(file { $0.parts[0].properties.append(Self.turn(2)) }) == .blue)
            #expect(try small(file { $0.references = [] }) == .blue)
            #expect(try small(file { $0.parts[2].data = ThumbnailFile.long(9) + exif.dropFirst(4) }) == .blue)
            #expect(try small(file { $0.parts[2].length = exif.count - 20 }) == .blue)
        }
        // An item is preferred.
        let blue = try self.exif(.blue)
        #expect(try small(file { $0.add("Exif", blue, as: "cdsc") }) == .red)
    }

    // MARK: - Hostile

    @Test(arguments: [ImageFormat.heic, .avif])
    func lyingThumbnailIsNoThumbnail(_ format: ImageFormat) throws {
        let lies: [(String, (inout ThumbnailFile) -> Void)] = [
            ("of nothing", { $0.references = [] }),
            ("of itself", { $0.references = [("thmb", 2, [2])] }),
            ("of an item that is not there", { $0.references = [("thmb", 2, [9])] }),
            ("a grid", { $0.parts[1].type = "grid" }),
            ("of the other codec", { $0.parts[1].type = format == .heic ? "av01" : "hvc1" }),
            ("no image", { $0.parts[1].type = "mime" }),
            ("without properties", { $0.parts[1].properties = [] }),
            (
                "of an unknown property",
                { $0.parts[1].properties += (0..<40).map { _ in ThumbnailFile.box("pixi", Data(count: 8)) } }
            ),
            ("without data", { $0.parts[1].length = 0 }),
            ("behind the file", { $0.parts[1].offset = 1 << 24 }),
            ("longer than the file", { $0.parts[1].length = 1 << 24 }),
            ("cut off", { $0.parts[1].data = $0.parts[1].data.prefix(30) }),
            ("noise", { $0.parts[1].data = Data(repeating: 0xA5, count: 500) }),
            (
                "larger than it says",
                { file in
                    let size = ThumbnailFile.box("ispe", [0, 8, 6].reduce(Data()) { $0 + ThumbnailFile.long($1) })
                    file.parts[1].properties.removeAll { $0.dropFirst(4).starts(with: Data("ispe".utf8)) }
                    file.parts[1].properties.insert(size, at: 0)
                }
            ),
        ]
        for (lie, change) in lies {
            let file = try file(format) { change(&$0) }
            // A thumbnail that lies may make the whole file implausible.
            guard let image = try? registry.decode(file, options: options(8, 8)) else {
                #expect(throws: CodecError.self) { try registry.decode(file) }
                continue
            }
            #expect(tone(image) == .blue, "\(lie)")
            #expect(image.size == PixelSize(8, 6))
        }
    }

    @Test func aPictureWithAlphaHasNoThumbnail() throws {
        let clear = try registry.encode(sampleImage(PixelSize(512, 384)), as: .heic)
        var file = ThumbnailFile(clear, try plain(PixelSize(128, 96), .red, as: .heic))
        #expect(tone(try registry.decode(file.data, options: options(8, 8))) == .red)
        file.parts.append(file.parts[0])
        file.parts[2].properties.append(
            ThumbnailFile.box("auxC", Data(count: 4) + Data("urn:mpeg:hevc:2015:auxid:1\0".utf8)))
        file.references.append(("auxl", 3, [1]))
        #expect(try registry.probe(file.data).hasAlpha)
        let whole = try registry.decode(file.data, options: DecodeOptions(target: TargetSize(PixelSize(8, 8))))
        #expect(try registry.decode(file.data, options: options(8, 8)).bitmap.bytes == whole.bitmap.bytes)
    }

    @Test(arguments: [ImageFormat.heic, .avif])
    func anyDamageLeavesAnImageOrAnError(_ format: ImageFormat) throws {
        let whole = try file(format, PixelSize(256, 192), thumbnail: PixelSize(128, 96)) {
            $0.add("Exif", ThumbnailFile.long(0) + Exif.data(.up, thumbnail: Data([0xFF, 0xD8, 0xFF])), as: "cdsc")
        }
        var generator = FixedGenerator(state: 11)
        for _ in 0..<600 {
            var file = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                file[Int.random(in: 12..<min(900, file.count), using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            do {
                let image = try registry.decode(file, options: options(8, 8))
                #expect(image.width <= 8 && image.height <= 8)
            } catch is CodecError {
            } catch is BitmapError {
            }
            guard let decoding = registry.makeProgressive(for: file, options: options(8, 8), showsThumbnail: true)
            else {
                continue
            }
            try decoding.append(file)
            if let preview = try decoding.preview(context: .uncancellable) {
                #expect(preview.width <= 8 && preview.height <= 8)
            }
        }
    }

    // MARK: - While it arrives

    @Test(arguments: [ImageFormat.heic, .avif])
    func thumbnailIsShownBeforeThePicture(_ format: ImageFormat) throws {
        let file = try file(format)
        // Without the thumbnail there is nothing to show.
        #expect(registry.makeProgressive(for: file) == nil)
        let whole = try registry.decode(file)
        let decoding = try #require(registry.makeProgressive(for: file, showsThumbnail: true))
        var (shown, previews) = (0, [Image]())
        for start in stride(from: 0, to: file.count, by: 16) {
            try decoding.append(file.dropFirst(start).prefix(16))
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            previews.append(preview)
            if shown == 0 { shown = start + 16 }
        }
        #expect(previews.count == 1 && shown < file.count)
        let preview = try #require(previews.first)
        #expect(tone(preview) == .red && preview.size == whole.size && preview.info.isPreview)
        let image = try decoding.finish(context: .uncancellable)
        #expect(image.bitmap.bytes == whole.bitmap.bytes && image.info == whole.info)
    }

    @Test func aThumbnailBehindThePictureIsWaitedFor() throws {
        let noise = try registry.encode(sampleImage(PixelSize(512, 384)), as: .heic)
        var parts = ThumbnailFile(noise, try plain(PixelSize(128, 96), .red, as: .heic))
        parts.isThumbnailFirst = false
        let file = parts.data
        let decoding = try #require(registry.makeProgressive(for: file, showsThumbnail: true))
        try decoding.append(file.dropLast(20))
        #expect(try decoding.preview(context: .uncancellable) == nil)
        try decoding.append(file.suffix(20))
        #expect(try decoding.preview(context: .uncancellable).flatMap { tone($0) } == .red)
    }

    @Test func aWorkerMakesTheSame() throws {
        let file = try file()
        var isolated = options(128, 128)
        let own = try registry.decode(file, options: isolated)
        isolated.isolation = .isolated(workers: IsolatedDecodeTests.workers)
        let other = try registry.decode(file, options: isolated)
        #expect(own.bitmap.bytes == other.bitmap.bytes && own.info == other.info && tone(other) == .red)
        let decoding = try #require(registry.makeProgressive(for: file, options: isolated, showsThumbnail: true))
        try decoding.append(file.dropLast(10))
        #expect(try decoding.preview(context: .uncancellable).flatMap { tone($0) } == .red)
    }

    // MARK: - Written

    @Test func writtenThumbnailShowsItsImage() throws {
        let size = PixelSize(600, 410)
        let image = Image(bitmap: try sampleBitmap(size), info: ImageInfo(format: .png, size: size))
        let file = try registry.encode(image, as: .heic, options: EncodeOptions(embedsThumbnail: true))
        let bare = try registry.encode(image, as: .heic)
        let box = options(160, 160)
        let plain = DecodeOptions(target: box.target)
        let (small, reduced) = (try registry.decode(file, options: box), try registry.decode(file, options: plain))
        #expect(small.size == PixelSize(160, 109) && small.bitmap.bytes != reduced.bitmap.bytes)
        #expect(signalToNoise(small.bitmap.bytes, reduced.bitmap.bytes) > 24)
        #expect(try registry.decode(file).bitmap.bytes == registry.decode(bare).bitmap.bytes)
        #expect(try registry.decode(bare, options: box).bitmap.bytes == reduced.bitmap.bytes)
        // One that is small itself, or has alpha, has none.
        let little = try registry.encode(sampleImage(PixelSize(160, 100)), as: .heic)
        let options = EncodeOptions(embedsThumbnail: true)
        #expect(try registry.encode(sampleImage(PixelSize(160, 100)), as: .heic, options: options) == little)
    }

    /// The file of another writer, libheif's by pillow-heif.
    @Test func aFileOfAnotherWriterHasOne() throws {
        let file = try Fixture.read("heic/thumbnail.heic")
        let box = options(48, 48)
        let reduced = try registry.decode(file, options: DecodeOptions(target: box.target))
        let small = try registry.decode(file, options: box)
        #expect(small.size == reduced.size && small.bitmap.bytes != reduced.bitmap.bytes)
        #expect(signalToNoise(small.bitmap.bytes, reduced.bitmap.bytes) > 20)
    }
}
