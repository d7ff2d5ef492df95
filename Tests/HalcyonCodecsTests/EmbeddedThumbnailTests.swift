import Foundation
import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs

/// Blue pictures with red thumbnails, so that the colour of a result tells where it is from.
@Suite struct EmbeddedThumbnailTests {
    private enum Tone: UInt32 {
        case red = 0xFFC0_2020
        case green = 0xFF20_C020
        case blue = 0xFF20_20C0
    }

    private let registry = CoderRegistry.standard()

    private func jpeg(_ size: PixelSize, _ tone: Tone, _ options: EncodeOptions = EncodeOptions()) throws -> Data {
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                bytes.storeBytes(of: tone.rawValue, toByteOffset: offset, as: UInt32.self)
            }
        }
        return try registry.encode(
            Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size)), as: .jpeg, options: options)
    }

    /// Returns the tone of a row, which has one alone.
    private func tone(_ image: Image, row: Int = 0) -> Tone? {
        image.bitmap.withPixels { pixels in
            let start = row * image.width * 4
            let (blue, green, red) = (pixels[start], pixels[start + 1], pixels[start + 2])
            if max(blue, green, red) < 100 { return nil }
            return red > max(green, blue) ? .red : green > blue ? .green : .blue
        }
    }

    private func file(
        _ size: PixelSize = PixelSize(640, 480), thumbnail: PixelSize = PixelSize(160, 120),
        _ change: (inout ExifThumbnail) -> Void = { _ in }
    ) throws -> Data {
        var exif = ExifThumbnail(try jpeg(thumbnail, .red))
        change(&exif)
        return exif.file(try jpeg(size, .blue))
    }

    private func options(_ width: Int, _ height: Int, _ mode: ResizeMode = .fit) -> DecodeOptions {
        DecodeOptions(target: TargetSize(PixelSize(width, height), mode: mode), usesEmbeddedThumbnail: true)
    }

    // MARK: - In place of the picture

    @Test func thumbnailStandsForResultsThatAreNoLarger() throws {
        let file = try file()
        for (target, tone) in [(20, Tone.red), (160, .red), (161, .blue), (640, .blue)] {
            let image = try registry.decode(file, options: options(target, target))
            #expect(self.tone(image) == tone, "\(target)")
            #expect(image.size == PixelSize(target, (target * 3 + 2) / 4))
            #expect(image.info == (try registry.probe(file)))
        }
        // Neither without a size, nor unless it is asked for.
        #expect(tone(try registry.decode(file, options: DecodeOptions(usesEmbeddedThumbnail: true))) == .blue)
        var without = options(20, 20)
        without.usesEmbeddedThumbnail = false
        #expect(tone(try registry.decode(file, options: without)) == .blue)
    }

    @Test func sizeIsThatOfThePicture() throws {
        let file = try file(PixelSize(640, 481), thumbnail: PixelSize(160, 120))
        var all = [
            options(100, 100), options(33, 47, .fill), options(159, 20, .fill), options(31, 90, .stretch),
            options(1, 1),
            options(.max, 64),
        ]
        for bytes in [4, 4_000, 30_000] {
            all.append(DecodeOptions(maximumBytes: ByteLimit(bytes), usesEmbeddedThumbnail: true))
            var filled = options(150, 40, .fill)
            filled.maximumBytes = ByteLimit(bytes)
            all.append(filled)
        }
        for options in all {
            let image = try registry.decode(file, options: options)
            #expect(tone(image) == .red)
            var plain = options
            plain.usesEmbeddedThumbnail = false
            #expect(image.size == (try registry.decode(file, options: plain)).size, "\(options)")
        }
        // Larger than the picture.
        var enlarged = options(700, 700)
        enlarged.target?.upscale = true
        #expect(tone(try registry.decode(file, options: enlarged)) == .blue)
    }

    @Test(arguments: Orientation.allCases)
    func thumbnailIsTurnedAsItsPicture(_ orientation: Orientation) throws {
        let small = try registry.encode(sampleImage(PixelSize(160, 120)), as: .jpeg)
        var exif = ExifThumbnail(small)
        exif.orientation = orientation
        let file = exif.file(try jpeg(PixelSize(640, 480), .blue))
        let turned = ExifThumbnail(Data())
        var alone = turned
        alone.orientation = orientation
        let box = TargetSize(PixelSize(70, 70))
        let image = try registry.decode(file, options: DecodeOptions(target: box, usesEmbeddedThumbnail: true))
        let expected = try registry.decode(alone.file(small), options: DecodeOptions(target: box))
        #expect(image.size == expected.size)
        #expect(image.bitmap.bytes == expected.bitmap.bytes)
        // An orientation of the thumbnail's own does not count.
        var other = exif
        alone.orientation = .left
        other.thumbnail = alone.file(small)
        let same = try registry.decode(
            other.file(try jpeg(PixelSize(640, 480), .blue)),
            options: DecodeOptions(target: box, usesEmbeddedThumbnail: true))
        #expect(same.bitmap.bytes == image.bitmap.bytes)
    }

    @Test(arguments: [
        // Rounded by the writer, or exact.
        (PixelSize(600, 400), PixelSize(160, 107), true), (PixelSize(600, 400), PixelSize(160, 106), true),
        (PixelSize(300, 300), PixelSize(120, 120), true), (PixelSize(640, 10), PixelSize(160, 2), true),
        // With bars, or of the picture before it was cut or turned.
        (PixelSize(600, 400), PixelSize(160, 120), false), (PixelSize(480, 640), PixelSize(160, 120), false),
        (PixelSize(600, 400), PixelSize(160, 104), false), (PixelSize(640, 360), PixelSize(160, 120), false),
        // Larger than the picture, or than any thumbnail.
        (PixelSize(80, 60), PixelSize(160, 120), false), (PixelSize(2_080, 1_560), PixelSize(520, 390), false),
        (PixelSize(2_048, 1_536), PixelSize(512, 384), true),
    ])
    func thumbnailHasTheShapeOfThePicture(picture: PixelSize, thumbnail: PixelSize, stands: Bool) throws {
        let file = try file(picture, thumbnail: thumbnail)
        #expect(tone(try registry.decode(file, options: options(8, 8))) == (stands ? Tone.red : Tone.blue))
        #expect(try firstPreview(file) == (stands ? Tone.red : nil))
    }

    @Test func bothByteOrdersAndAMissingCompressionAreRead() throws {
        for isLittleEndian in [false, true] {
            for compression in [nil, 6] {
                let file = try file {
                    $0.isLittleEndian = isLittleEndian
                    $0.compression = compression
                }
                #expect(tone(try registry.decode(file, options: options(8, 8))) == .red)
            }
        }
    }

    @Test func partsAndStoredColoursAreOfThePicture() throws {
        let file = try file()
        var part = options(8, 8)
        part.region = PixelRect(x: 0, y: 0, width: 64, height: 48)
        #expect(tone(try registry.decode(file, options: part)) == .blue)
        var stored = options(8, 8)
        stored.color = .asStored
        #expect(tone(try registry.decode(file, options: stored)) == .blue)
    }

    /// A camera averages in a light that nobody knows.
    @Test func inLinearLightThePictureItselfIsAveraged() throws {
        var options = options(40, 40)
        #expect(tone(try registry.decode(try file(), options: options)) == .red)
        options.target?.light = .linear
        #expect(tone(try registry.decode(try file(), options: options)) == .blue)
    }

    @Test func thumbnailsOfThumbnailsAreNotLookedAt() throws {
        let inner = try jpeg(PixelSize(16, 12), .green)
        let file = try file { $0.thumbnail = ExifThumbnail(inner).file($0.thumbnail) }
        #expect(tone(try registry.decode(file, options: options(8, 8))) == .red)
        #expect(try firstPreview(file) == .red)
    }

    /// A thumbnail without a picture in the place of its pixels costs the picture its own decode, and no more.
    @Test func reservationIsThatOfTheThumbnail() throws {
        let file = try file(PixelSize(2_048, 1_536))
        let plan = try registry.plan(file, options: options(80, 80))
        #expect(plan.finalSize == PixelSize(80, 60))
        #expect(plan.workingBytes <= 160 * 120 * 4 + 80 * 60 * 4)
    }

    // MARK: - Written

    @Test(arguments: Orientation.allCases, [false, true])
    func writtenThumbnailShowsItsImage(_ orientation: Orientation, keepsOrientation: Bool) throws {
        let size = PixelSize(600, 410)
        let image = Image(
            bitmap: try sampleBitmap(size), info: ImageInfo(format: .png, size: size, orientation: orientation))
        let options = EncodeOptions(keepsOrientation: keepsOrientation, embedsThumbnail: true)
        let file = try registry.encode(image, as: .jpeg, options: options)
        let thumbnail = try #require(JPEGCoder().embeddedThumbnail(in: file))
        let stored = try registry.probe(file).storedSize
        #expect(try registry.probe(thumbnail).size == (stored == size ? PixelSize(160, 109) : PixelSize(109, 160)))
        let box = DecodeOptions(target: TargetSize(PixelSize(160, 160)), usesEmbeddedThumbnail: true)
        var plain = box
        plain.usesEmbeddedThumbnail = false
        let (small, reduced) = (try registry.decode(file, options: box), try registry.decode(file, options: plain))
        #expect(small.size == PixelSize(160, 109) && small.bitmap.bytes != reduced.bitmap.bytes)
        #expect(signalToNoise(small.bitmap.bytes, reduced.bitmap.bytes) > 24)
        #expect(small.info == reduced.info)
        // The picture is the same with and without.
        let bare = try registry.encode(image, as: .jpeg, options: EncodeOptions(keepsOrientation: keepsOrientation))
        #expect(try registry.decode(file).bitmap.bytes == registry.decode(bare).bitmap.bytes)
        #expect(bare.count < file.count && JPEGCoder().embeddedThumbnail(in: bare) == nil)
    }

    @Test func writtenThumbnailHasPlainColours() throws {
        let data = try Fixture.read("color/p3.jpg")
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        let wide = try stored.replacing(
            stored.bitmap.resampled(
                ResizeGeometry(source: stored.size, box: PixelSize(400, 400), mode: .fit, upscale: true),
                filter: .bilinear, context: .uncancellable))
        let file = try registry.encode(wide, as: .jpeg, options: EncodeOptions(quality: 1, embedsThumbnail: true))
        let thumbnail = try registry.decode(try #require(JPEGCoder().embeddedThumbnail(in: file)))
        let box = DecodeOptions(target: TargetSize(thumbnail.size, mode: .stretch))
        #expect(signalToNoise(thumbnail.bitmap.bytes, try registry.decode(file, options: box).bitmap.bytes) > 27)
    }

    @Test func smallImageHasNoThumbnail() throws {
        for side in [1, 160] {
            let file = try registry.encode(
                sampleImage(PixelSize(side, side)), as: .jpeg, options: EncodeOptions(embedsThumbnail: true))
            #expect(JPEGCoder().embeddedThumbnail(in: file) == nil)
        }
        let limited = EncodeOptions(maximumBytes: 9_000, embedsThumbnail: true)
        let file = try registry.encode(sampleImage(PixelSize(400, 300)), as: .jpeg, options: limited)
        #expect(file.count <= 9_000 && JPEGCoder().embeddedThumbnail(in: file) != nil)
    }

    // MARK: - Hostile

    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout ExifThumbnail) -> Void

        init(_ testDescription: String, _ change: @escaping @Sendable (inout ExifThumbnail) -> Void) {
            self.testDescription = testDescription
            self.change = change
        }
    }

    static let lies = [
        Lie("no bytes") { $0.length = 0 },
        Lie("longer than the data") { $0.length = $0.thumbnail.count + 1 },
        Lie("the longest") { $0.length = 0xFFFF_FFFF },
        Lie("behind the data") { $0.offset = 60_000 },
        Lie("the farthest") { $0.offset = 0xFFFF_FFFF },
        Lie("both") { ($0.offset, $0.length) = (0xFFFF_FFFF, 0xFFFF_FFFF) },
        Lie("the TIFF structure itself") { ($0.offset, $0.length) = (0, 60) },
        Lie("a ring of directories") { $0.nextDirectory = 8 },
        Lie("a directory behind the data") { $0.nextDirectory = 0xFFFF_FFF0 },
        Lie("no second directory") { $0.nextDirectory = 0 },
        Lie("not compressed") { $0.compression = 1 },
        Lie("no entries") { $0.entryCount = 0 },
        Lie("cut off") { $0.length = $0.thumbnail.count / 2 },
        Lie("damaged") { $0.thumbnail = $0.thumbnail.prefix(200) + Data(repeating: 0xFF, count: 300) },
        Lie("no image") { $0.thumbnail = Data(repeating: 0x41, count: 500) },
        Lie("a signature alone") { $0.thumbnail = Data([0xFF, 0xD8, 0xFF]) },
        Lie("many scans") { $0.thumbnail = CraftedFile.jpeg(width: 160, height: 120, scans: 600) },
        Lie("enormous") { $0.thumbnail = CraftedFile.jpeg(width: 32_000, height: 24_000, scans: 1).prefix(30_000) },
    ]

    @Test(arguments: lies) func lyingThumbnailIsNoThumbnail(_ lie: Lie) throws {
        for isLittleEndian in [false, true] {
            let file = try file {
                $0.isLittleEndian = isLittleEndian
                lie.change(&$0)
            }
            let image = try registry.decode(file, options: options(8, 8))
            #expect(tone(image) == .blue)
            #expect(image.size == PixelSize(8, 6))
            #expect(try firstPreview(file) == nil)
            #expect(try registry.probe(file).orientation == .up)
        }
    }

    @Test func aThumbnailOfAnotherFormatIsNoThumbnail() throws {
        let png = try registry.encode(sampleImage(PixelSize(16, 12)), as: .png)
        let file = try file { $0.thumbnail = png }
        #expect(tone(try registry.decode(file, options: options(8, 8))) == .blue)
    }

    @Test func aClaimOfManyEntriesIsReadAsFarAsTheyAreThere() throws {
        let file = try file { $0.entryCount = 65_535 }
        #expect(tone(try registry.decode(file, options: options(8, 8))) == .red)
    }

    @Test func anyDamageLeavesAnImageOrAnError() throws {
        let whole = try file(PixelSize(64, 48), thumbnail: PixelSize(32, 24))
        var generator = FixedGenerator(state: 7)
        for _ in 0..<2_000 {
            var file = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                file[Int.random(in: 2..<min(800, file.count), using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            if let image = try? registry.decode(file, options: options(8, 8)) {
                #expect(image.width <= 8 && image.height <= 8)
            }
            guard let decoding = registry.makeProgressive(for: file, options: options(8, 8), showsThumbnail: true)
            else {
                continue
            }
            guard (try? decoding.append(file)) != nil else { continue }
            if let preview = try? decoding.preview(context: .uncancellable) {
                #expect(preview.width <= 8 && preview.height <= 8)
            }
        }
    }

    // MARK: - While it arrives

    /// Returns the place where the pixels of the picture begin.
    private func startOfPixels(_ file: Data) throws -> Int {
        let exif = 4 + Int(file[4]) << 8 + Int(file[5])
        let scan = try #require(file[exif...].firstRange(of: Data([0xFF, 0xDA]))?.lowerBound)
        return scan + 14
    }

    /// Returns the tone of the preview that is there before a pixel of the picture is.
    private func firstPreview(_ file: Data) throws -> Tone? {
        let decoding = try #require(registry.makeProgressive(for: file, showsThumbnail: true))
        try decoding.append(file.prefix(startOfPixels(file)))
        return try decoding.preview(context: .uncancellable).flatMap { tone($0) }
    }

    @Test func rowsAreDrawnOnTheThumbnail() throws {
        let file = try file()
        for target in [nil, TargetSize(PixelSize(300, 300)), TargetSize(PixelSize(50, 90), mode: .fill)] {
            let options = DecodeOptions(target: target)
            let whole = try registry.decode(file, options: options)
            let plain = try #require(registry.makeProgressive(for: file, options: options))
            let decoding = try #require(registry.makeProgressive(for: file, options: options, showsThumbnail: true))
            let start = try startOfPixels(file)
            for decoding in [plain, decoding] { try decoding.append(file.prefix(start)) }
            #expect(try plain.preview(context: .uncancellable) == nil)
            let first = try #require(try decoding.preview(context: .uncancellable))
            #expect(tone(first) == .red && tone(first, row: first.height - 1) == .red)
            #expect(first.size == whole.size && first.bitmap.isOpaque && first.info.isPreview)
            #expect(try decoding.preview(context: .uncancellable) == nil)
            try decoding.append(file[start...].prefix((file.count - start) / 2))
            let second = try #require(try decoding.preview(context: .uncancellable))
            #expect(tone(second) == .blue && tone(second, row: second.height - 1) == .red)
            #expect(second.bitmap.isOpaque && second.info.isPreview)
            try decoding.append(file[(start + (file.count - start) / 2)...])
            let last = try #require(try decoding.preview(context: .uncancellable))
            #expect(tone(last) == .blue && tone(last, row: last.height - 1) == .blue)
            let image = try decoding.finish(context: .uncancellable)
            #expect(image.bitmap.bytes == whole.bitmap.bytes && image.info == whole.info)
        }
    }

    @Test func scansReplaceTheThumbnail() throws {
        let file = ExifThumbnail(try jpeg(PixelSize(160, 120), .red)).file(
            try jpeg(PixelSize(640, 480), .blue, EncodeOptions(isProgressive: true)))
        let decoding = try #require(registry.makeProgressive(for: file, showsThumbnail: true))
        let start = try startOfPixels(file)
        try decoding.append(file.prefix(start))
        #expect(try decoding.preview(context: .uncancellable).flatMap { tone($0) } == .red)
        #expect(decoding.shownScans == nil)
        try decoding.append(file[start...])
        let preview = try #require(try decoding.preview(context: .uncancellable))
        #expect(tone(preview) == .blue && tone(preview, row: 479) == .blue)
        #expect(try #require(decoding.shownScans) > 0)
    }

    @Test func memoryOfTheThumbnailIsReserved() throws {
        let file = try file()
        let pixels = 640 * 480 * 4
        for (capacity, isShown) in [(pixels * 20, true), (pixels * 6 + 100_000, false)] {
            let budget = DecodeBudget(capacity: capacity)
            let registry = CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: budget)
            do {
                let decoding = try #require(registry.makeProgressive(for: file, showsThumbnail: true))
                try decoding.append(file.prefix(startOfPixels(file)))
                let preview = try decoding.preview(context: .uncancellable)
                #expect((preview != nil) == isShown)
                if isShown { #expect(capacity - budget.available >= pixels * 5) }
            }
            #expect(budget.available == capacity)
        }
    }
}
