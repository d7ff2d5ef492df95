import CTestGdkPixbuf
import Foundation
import HalcyonCodecs
import HalcyonSystem
import HalcyonGdkPixbuf
import HalcyonImage
import TestSupport
import Testing

/// The formats of the loaders of gdk-pixbuf: what they look like, and where they are decoded.
@Suite(.timeLimit(.minutes(5))) struct GdkPixbufTests {
    static let workers = DecodeWorkers(count: 2, program: .file(Worker.path))
    static let options = DecodeOptions(isolation: .isolated(workers: workers))

    private let registry = CoderRegistry.standard()

    /// The files that the fixtures' script lists; the index is apart from those of the formats that decode in this process.
    static let fixtures: [Fixture] = {
        let list = try? JSONDecoder().decode([Fixture].self, from: Fixture.read("pixbuf/pictures.json"))
        return list ?? []
    }()

    private static let formats: Set<ImageFormat> = [.pnm, .tga, .xpm, .xbm, .icns, .ani]

    @Test func allFormatsAreThere() {
        #expect(Set(Self.fixtures.map(\.format)) == Set(Self.formats.map(\.name)))
        #expect(Self.fixtures.count > 25)
        // The compiler has compared the declarations of gdk-pixbuf with its header, in this target's C.
        #expect(test_gdk_pixbuf_version() == 2)
    }

    @Test(arguments: fixtures)
    func decodesToItsGolden(_ fixture: Fixture) throws {
        let data = try fixture.data()
        #expect(FormatSniffer.format(of: data)?.name == fixture.format)
        let info = try registry.probe(data)
        #expect(info.format.name == fixture.format && info.size == fixture.size)
        #expect(info.hasAlpha == fixture.alpha && info.orientation == .up && info.frameCount == 1)
        #expect(try registry.probe(data, isolation: Self.options.isolation ?? .inProcess) == info)
        let image = try registry.decode(data, options: Self.options)
        #expect(image.info == info && image.size == fixture.size && image.animation == nil)
        let difference = try #require(largestDifference(image.bitmap.bytes, try fixture.goldenPixels()))
        #expect(difference <= fixture.tolerance ?? 0)
        #expect(image.bitmap.isOpaque == !fixture.alpha)
    }

    @Test func aSmallDecodeIsThatOfTheWholePicture() throws {
        for fixture in Self.fixtures where fixture.width > 20 && fixture.format != "icns" {
            var options = Self.options
            let whole = try registry.decode(fixture.data(), options: options).bitmap
            options.target = TargetSize(PixelSize(11, 11))
            let small = try registry.decode(fixture.data(), options: options)
            let geometry = ResizeGeometry(
                source: whole.size, box: PixelSize(11, 11), mode: .fit, upscale: false)
            let expected = try whole.resampled(geometry, filter: .lanczos, light: .encoded, context: .uncancellable)
            #expect(small.bitmap.bytes == expected.bytes, "\(fixture.file)")
        }
    }

    @Test(arguments: fixtures)
    func aRegionIsACutOfTheWhole(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let whole = try registry.decode(data, options: Self.options).bitmap
        var options = Self.options
        for region in [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 0, y: 0, width: fixture.width, height: 1),
            PixelRect(x: fixture.width / 3, y: fixture.height / 4, width: 9, height: 7),
            PixelRect(x: fixture.width - 1, y: fixture.height - 1, width: 40, height: 40),
        ] {
            options.region = region
            let part = try registry.decode(data, options: options)
            let expected = try whole.cropped(to: #require(region.clamped(to: whole.size)))
            #expect(part.info.size == whole.size && part.size == expected.size)
            #expect(part.bitmap.bytes == expected.bytes, "\(region)")
        }
        options.region = PixelRect(x: fixture.width, y: 0, width: 1, height: 1)
        #expect(throws: BitmapError.self) { try registry.decode(data, options: options) }
    }

    /// A target is that of the region. A part of an icon is taken from the picture that suits the whole at that scale.
    @Test(arguments: ["pixbuf/rgb.tga", "pixbuf/plain.ppm", "pixbuf/two-sizes.icns"])
    func aTargetIsThatOfTheRegion(_ file: String) throws {
        let data = try Fixture.read(file)
        var options = Self.options
        let whole = try registry.decode(data, options: options).bitmap
        let region = PixelRect(x: 2, y: 4, width: 16, height: 16)
        (options.region, options.target) = (region, TargetSize(PixelSize(16, 16)))
        #expect(try registry.decode(data, options: options).bitmap.bytes == whole.cropped(to: region).bytes)
        options.target = TargetSize(PixelSize(8, 8))
        let small = try registry.decode(data, options: options)
        #expect(small.size == PixelSize(8, 8))
        let expected: Bitmap
        if file.hasSuffix("icns") {
            (options.region, options.target) = (nil, TargetSize(PixelSize(16, 16)))
            expected = try registry.decode(data, options: options).bitmap
                .cropped(to: PixelRect(x: 1, y: 2, width: 8, height: 8))
        } else {
            expected = try whole.cropped(to: region).resampled(
                ResizeGeometry(source: region.size, box: PixelSize(8, 8), mode: .fit, upscale: false))
        }
        #expect(signalToNoise(small.bitmap.bytes, expected.bytes) > 24)
    }

    @Test func anIconShowsThePictureThatSuits() throws {
        let data = try Fixture.read("pixbuf/two-sizes.icns")
        var options = Self.options
        options.target = TargetSize(PixelSize(16, 16))
        let small = try registry.decode(data, options: options).bitmap
        #expect(
            small.bytes == (try registry.decode(Fixture.read("pixbuf/small.icns"), options: Self.options).bitmap.bytes))
        options.target = TargetSize(PixelSize(17, 17))
        #expect(try registry.decode(data, options: options).size == PixelSize(17, 17))
        #expect(try registry.decode(data, options: Self.options).size == PixelSize(32, 32))
    }

    @Test func aPictureOfAnotherShapeIsNoneOfAnIcon() throws {
        let png = try Image(width: 3, height: 2, pixels: [UInt8](repeating: 9, count: 24), layout: .bgra).data(as: .png)
        let icon = Self.element("icns", Self.element("ic07", png))
        #expect(throws: CodecError.self) { try registry.probe(icon) }
    }

    @Test func anIconHasAlphaIfAnyPictureHas() throws {
        let bitmap = try Bitmap(size: PixelSize(64, 64), isOpaque: true) { bytes in
            bytes.copyBytes(from: [UInt8](repeating: 255, count: bytes.count))
        }
        let info = ImageInfo(format: .png, size: bitmap.size)
        let large = Self.element("ic12", try registry.encode(Image(bitmap: bitmap, info: info), as: .png))
        #expect(try !registry.probe(Self.element("icns", large)).hasAlpha)
        let small = Self.element("is32", Data(repeating: 90, count: 1024)) + Self.element("s8mk", Data(count: 256))
        let icon = Self.element("icns", large + small)
        let whole = try registry.probe(icon)
        #expect(whole.hasAlpha && whole.size == PixelSize(64, 64))
        var options = Self.options
        options.target = TargetSize(PixelSize(16, 16))
        let image = try registry.decode(icon, options: options)
        #expect(!image.bitmap.isOpaque && image.bitmap.bytes.allSatisfy { $0 == 0 })
    }

    // MARK: - The place

    /// Returns workers that run a script, which closes the memory of a worker if a condition holds: it cannot begin then.
    private static func workers(failingIf condition: String, in folder: TemporaryFolder) throws -> DecodeWorkers {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "worker")
        let script = "#!/bin/sh\nif \(condition); then exec 4<&-; fi\nexec '\(Worker.path)'\n"
        try Spawn.writeScript(script, to: file)
        return DecodeWorkers(count: 1, program: .file(file.path(percentEncoded: false)))
    }

    @Test func loadersThatKeepAWorkerFromItsStartAreNoFaultOfOtherFormats() throws {
        let folder = TemporaryFolder()
        let workers = try Self.workers(failingIf: "[ \"$HALCYON_DECODE_WORKER_ROLE\" = loaders ]", in: folder)
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        let (file, png) = (try Fixture.read("pixbuf/plain.ppm"), try Fixture.read("png/1x1.png"))
        for _ in 0..<2 {
            let error = #expect(throws: CodecError.self) { try registry.decode(file, options: options) }
            #expect(error?.code == "isolationUnavailable")
            #expect(try registry.decode(png, options: options).size == PixelSize(1, 1))
        }
    }

    /// The C library's cache of small blocks would give a loader what another file has left in them.
    @Test func theHeapOfLoadersCachesNoBlocks() throws {
        let folder = TemporaryFolder()
        let setting = "[ \"$GLIBC_TUNABLES\" != glibc.malloc.tcache_count=0 ]"
        let workers = try Self.workers(failingIf: setting, in: folder)
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        #expect(try registry.decode(Fixture.read("pixbuf/plain.ppm"), options: options).size.width > 0)
        #expect(throws: CodecError.self) {
            try registry.decode(Fixture.read("png/1x1.png"), options: options)
        }
    }

    @Test func aProgramThatIsolatesNothingDecodesInAWorker() throws {
        let fixture = try #require(Self.fixtures.first { $0.file.hasSuffix("rgb.tga") })
        let data = try fixture.data()
        let before = DecodeWorkers.shared.statistics.answers
        let image = try registry.decode(data)
        #expect(image.bitmap.bytes == (try fixture.goldenPixels()))
        #expect(DecodeWorkers.shared.statistics.answers > before)
        let plan = try registry.plan(data)
        #expect(try registry.decode(data, plan: plan).bitmap.bytes == image.bitmap.bytes)
    }

    /// Formats that are not isolated are the others.
    @Test func theWorkersOfOtherFormatsAreTaken() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        let options = DecodeOptions(isolation: .isolated(workers: workers, formats: [.svg]))
        _ = try registry.decode(Fixture.read("pixbuf/plain.ppm"), options: options)
        #expect(workers.statistics.answers > 0)
        let answers = workers.statistics.answers
        _ = try registry.decode(Fixture.read("png/1x1.png"), options: options)
        #expect(workers.statistics.answers == answers)
    }

    @Test func withoutAWorkerThereIsNoDecode() throws {
        let missing = DecodeWorkers(program: .file("/nowhere/halcyon-decode-worker"))
        for fixture in Self.fixtures {
            let data = try fixture.data()
            let options = DecodeOptions(isolation: .isolated(workers: missing))
            let error = #expect(throws: CodecError.self) { try registry.decode(data, options: options) }
            #expect(error?.code == "isolationUnavailable")
        }
    }

    @Test(arguments: fixtures)
    func thisProcessRefuses(_ fixture: Fixture) throws {
        let (data, decoder) = (try fixture.data(), GdkPixbufCoder())
        #expect(decoder.requiresIsolation)
        let plan = try DecodePlan(info: decoder.probe(data), options: DecodeOptions(), decoder: decoder)
        let error = try #require(
            #expect(throws: CodecError.self) { try decoder.decode(data, plan: plan, context: .uncancellable) })
        #expect(error.code == "isolationUnavailable")
        let other = #expect(throws: CodecError.self) { try registry.decode(data, plan: plan) }
        #expect(other?.code == "isolationUnavailable")
        #expect(error.recoverySuggestion?.contains("halcyon-decode-worker") == true)
    }

    @Test func aFormatWithoutALoaderIsNotSupported() throws {
        // A container of a picture of 3 x 2 pixels with three channels.
        let start: [UInt8] = [0, 0, 0, 12] + Array("jP  ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]
        let header: [UInt8] = [0, 0, 0, 30] + Array("jp2h".utf8) + [0, 0, 0, 22] + Array("ihdr".utf8)
        let data = Data(start + header + [0, 0, 0, 2, 0, 0, 0, 3, 0, 3, 7, 7, 0, 0])
        #expect(try registry.probe(data).size == PixelSize(3, 2))
        let bare: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51, 0, 47, 0, 0, 0, 0, 0, 13, 0, 0, 0, 12, 0, 0, 0, 10, 0, 0, 0, 10]
        let stream = Data(bare + [UInt8](repeating: 0, count: 16) + [0, 4, 11])
        let info = try registry.probe(stream)
        #expect(info.size == PixelSize(3, 2) && info.hasAlpha && info.bitsPerChannel == 12)
        for data in [data, stream] {
            let error = #expect(throws: CodecError.self) { try registry.decode(data, options: Self.options) }
            // Debian has no loader for it; where somebody has installed one, it finds that there are no pixels.
            #expect(error == .loaderMissing(.jpeg2000) || error?.code == "damagedImage")
        }
    }

    /// A loader that reads numbers one by one asks for bytes all the time, and hears of the end then. On a busy machine that may take
    /// longer than it has, so it is tried more than once.
    @Test func aCancelledDecodeKeepsItsWorker() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        var data = Data("P2 4000 4000 1\n".utf8)
        data.append(Data(repeating: 0x20, count: 32_000_000))
        for place in stride(from: 15, to: data.count, by: 2) { data[place] = 0x31 }
        let plan = try registry.plan(data, options: options)
        #expect(workers.statistics.started == 1)
        let isKept = (0..<20).contains { _ in
            let watch = Stopwatch()
            #expect(throws: CancellationError.self) {
                try registry.decode(data, plan: plan, context: WorkContext { watch.elapsed > .milliseconds(50) })
            }
            defer { _ = try? registry.decode(Fixture.read("pixbuf/plain.pgm"), options: options) }
            return workers.statistics.workers == 1
        }
        #expect(isKept)
    }

    // MARK: - The order

    /// Whatever another coder reads never reaches a loader, of which gdk-pixbuf has one for most.
    @Test func filesOfOtherCodersNeverGetThere() throws {
        let coder = GdkPixbufCoder()
        let alone = CoderRegistry([coder])
        for fixture in Fixture.all {
            let data = try fixture.data()
            #expect(!coder.canDecode(data), "\(fixture.file)")
            let error = #expect(throws: CodecError.self) { try alone.decode(data, options: Self.options) }
            #expect(error?.code == "unsupportedFormat", "\(fixture.file)")
        }
        #expect(registry.coders.last is GdkPixbufCoder)
    }

    /// The loader of ICNS looks for any format in a picture of 256 pixels: it gets no such picture.
    @Test func aPictureInAnIconIsNoWayRound() throws {
        let files = ["svg/basic.svg", "gif/simple.gif", "jpeg/baseline-444.jpg", "pixbuf/plain.ppm"]
        for name in files {
            let payload = (try? Fixture.read(name)) ?? Data("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
            for kind in ["ic07", "ic08", "ic09", "ic10", "icp4"] {
                let icon = Self.element("icns", Self.element(kind, payload))
                let error = #expect(throws: CodecError.self) { try registry.decode(icon, options: Self.options) }
                #expect(error == .damaged(.icns, reason: "none of its elements is a picture that is read"))
            }
        }
    }

    static func element(_ name: String, _ body: Data) -> Data {
        let length = withUnsafeBytes(of: UInt32(8 + body.count).bigEndian) { Data($0) }
        return Data(name.utf8) + length + body
    }

    @Test(arguments: [
        "P5 is a processor", "P7\nWIDTH 1\n", "P6", "P6 # nothing but a comment", "#define width 3\n",
        "P3 2024 budget\nhello world", "P1 2 3rd", "P4 1 1", "P5 1 1 ten ",
        "P5\n#" + String(repeating: "x", count: 5000) + "\n1 1 255\n",
        "#define LINE_width 80\n#define LINE_height 10\nextern char bits[];\n",
        "#define FOO_width 3\n#define FOO_height 3\n", "/* XPM is a format */", "icns", "RIFF\u{1}\u{2}\0\0WAVEfmt ",
    ])
    func whatLooksAlikeIsNoPicture(_ text: String) {
        #expect(!GdkPixbufCoder().canDecode(Data(text.utf8)))
        #expect(FormatSniffer.format(of: Data(text.utf8)) == nil)
    }

    /// TGA has no signature: each field of the header that does not fit makes it something else.
    @Test func aHeaderOfTGAMustMakeSense() throws {
        let data = try Fixture.read("pixbuf/palette.tga")
        #expect(FormatSniffer.format(of: data) == .tga)
        for (place, value) in [
            (1, 2), (1, 0), (2, 0), (2, 4), (2, 12), (7, 17), (12, 0), (14, 0), (16, 24), (17, 0x40),
        ] {
            var other = data
            other[place] = UInt8(value)
            #expect(FormatSniffer.format(of: other) != .tga, "\(place)")
        }
        #expect(FormatSniffer.format(of: data.prefix(17)) == nil)
        // Without a palette there is none to describe.
        let colors = try Fixture.read("pixbuf/rgb.tga")
        #expect(FormatSniffer.format(of: colors) == .tga)
        for (place, value) in [(3, 1), (4, 1), (5, 1), (7, 24)] {
            var other = colors
            other[place] = UInt8(value)
            #expect(FormatSniffer.format(of: other) != .tga, "\(place)")
        }
    }
}

/// A decoder of a program's own that is not trusted with its memory.
@Suite(.timeLimit(.minutes(1))) struct RequiredIsolationTests {
    private struct Untrusted: ProgressiveImageDecoder {
        private let decoder = JPEGCoder()

        var formats: [ImageFormat] { [.jpeg] }
        var requiresIsolation: Bool { true }
        func canDecode(_ data: Data) -> Bool { decoder.canDecode(data) }
        func probe(_ data: Data) throws -> ImageInfo { try decoder.probe(data) }

        func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            Issue.record("it decodes in this process")
            return try decoder.decode(data, plan: plan, context: context)
        }

        func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
            Issue.record("it decodes in this process")
            return decoder.makeProgressive(options: options, budget: budget)
        }
    }

    /// A format whose files begin with four bytes of their own, and then have a picture that is their thumbnail and their gain map.
    private struct Holder: GainMapImageDecoder {
        let size: PixelSize

        var formats: [ImageFormat] { [.bitmap] }
        func canDecode(_ data: Data) -> Bool { data.starts(with: Data("HOLD".utf8)) }
        func embeddedThumbnail(in data: Data) -> Data? { data.dropFirst(4) }

        func probe(_ data: Data) throws -> ImageInfo {
            var info = ImageInfo(format: .bitmap, size: size)
            info.hasGainMap = true
            return info
        }

        func gainMap(in data: Data) -> StoredGainMap? {
            let channel = GainMap.Channel(maximum: 2)
            let metadata = GainMap.Metadata(red: channel, green: channel, blue: channel, alternateHeadroom: 2)
            return metadata.map {
                StoredGainMap(picture: Data(data.dropFirst(4)), metadata: $0, isGray: false, colorProfile: nil)
            }
        }

        func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try Bitmap(size: plan.nativeSize, isOpaque: true) { bytes in
                bytes.copyBytes(from: [UInt8](repeating: 255, count: bytes.count))
            }
        }
    }

    /// Nothing asks a worker about a thumbnail by itself.
    @Test func aThumbnailIsNoWayAround() throws {
        let thumbnail = try Fixture.read("jpeg/baseline-444.jpg")
        let data = Data("HOLD".utf8) + thumbnail
        let size = try JPEGCoder().probe(thumbnail).size
        let options = DecodeOptions(target: TargetSize(PixelSize(8, 8)), usesEmbeddedThumbnail: true)
        let own = try CoderRegistry([Holder(size: size), JPEGCoder()]).decode(data, options: options)
        #expect(!own.bitmap.bytes.allSatisfy { $0 == 255 })
        let image = try CoderRegistry([Holder(size: size), Untrusted()]).decode(data, options: options)
        #expect(image.bitmap.bytes.allSatisfy { $0 == 255 })
    }

    /// A gain map is decoded where its picture is, and by no decoder that wants a worker of its own.
    @Test func aGainMapIsNoWayAround() throws {
        let values = try Fixture.read("jpeg/baseline-444.jpg")
        let data = Data("HOLD".utf8) + values
        let size = try JPEGCoder().probe(values).size
        let options = DecodeOptions(decodesGainMap: true)
        let own = try CoderRegistry([Holder(size: size), JPEGCoder()]).decode(data, options: options)
        #expect(own.gainMap?.size == size)
        let coders = CoderRegistry([Holder(size: size), Untrusted()])
        let image = try coders.decode(data, options: options)
        #expect(image.gainMap == nil && image.size == size)
        #expect(try coders.decode(data, plan: coders.plan(data, options: options)).gainMap == nil)
    }

    @Test func aDecoderThatNoWorkerHasDoesNotDecode() throws {
        let (coders, data) = (CoderRegistry([Untrusted()]), try Fixture.read("jpeg/baseline-444.jpg"))
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        let places: [DecodeIsolation?] = [
            nil, .inProcess, .isolated(workers: workers), .isolated(workers: workers, formats: [.png]),
        ]
        for isolation in places {
            let options = DecodeOptions(isolation: isolation)
            let error = #expect(throws: CodecError.self) { try coders.decode(data, options: options) }
            #expect(error?.code == "isolationUnavailable")
            #expect(throws: CodecError.self) {
                let decoding = try #require(coders.makeProgressive(for: data, options: options))
                try decoding.append(data, context: .uncancellable)
                _ = try decoding.finish(context: .uncancellable)
            }
        }
        #expect(try coders.probe(data).format == .jpeg)
        let plan = try DecodePlan(info: coders.probe(data), options: DecodeOptions(), decoder: Untrusted())
        #expect(throws: CodecError.self) { try coders.decode(data, plan: plan) }
    }
}
