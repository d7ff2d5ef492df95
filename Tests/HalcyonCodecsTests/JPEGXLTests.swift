import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs
@testable import HalcyonJPEGXL

/// JPEG XL as it is written and read back; pixels of files that another program has written are in the goldens.
@Suite struct JPEGXLTests {
    private let registry = CoderRegistry.standard()

    private func picture(_ size: PixelSize, isOpaque: Bool = true) throws -> Image {
        var pixels = [UInt8](repeating: 255, count: size.width * size.height * 4)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let pixel = (y * size.width + x) * 4
                pixels[pixel] = UInt8(x * 255 / size.width)
                pixels[pixel + 1] = UInt8(y * 255 / size.height)
                pixels[pixel + 2] = UInt8((x / 8 + y / 8) % 2 * 200)
                if !isOpaque { pixels[pixel + 3] = UInt8(255 - x * 255 / size.width) }
            }
        }
        return try Image(width: size.width, height: size.height, pixels: pixels, layout: .rgba)
    }

    // MARK: - Stills

    @Test(arguments: [true, false], [PixelSize(1, 1), PixelSize(61, 3), PixelSize(300, 280)])
    func everyPixelOfALosslessFileComesBack(_ isOpaque: Bool, _ size: PixelSize) throws {
        let image = try picture(size, isOpaque: isOpaque)
        let data = try registry.encode(image, as: .jpegXL, options: EncodeOptions(isLossless: true))
        let read = try registry.decode(data)
        #expect(read.bitmap.bytes == image.bitmap.bytes)
        #expect(
            read.info.hasAlpha == !image.bitmap.bytes.indices.allSatisfy {
                $0 % 4 != 3 || image.bitmap.bytes[$0] == 255
            })
        #expect(read.info.bitsPerChannel == 8)
    }

    @Test func qualityDecidesTheSizeAndTheLoss() throws {
        let image = try picture(PixelSize(200, 150))
        let files = try [0.1, 0.5, 0.85, 1].map {
            try registry.encode(image, as: .jpegXL, options: EncodeOptions(quality: $0))
        }
        #expect(files.map(\.count) == files.map(\.count).sorted())
        let loss = try files.map { signalToNoise(try registry.decode($0).bitmap.bytes, image.bitmap.bytes) }
        #expect(loss == loss.sorted())
        #expect(loss[0] > 10 && loss[3] > 35, "\(loss)")
    }

    @Test func distanceIsThatOfTheLibrarysTool() {
        #expect(JXLEncoder.distance(1) == 0.1)
        #expect(abs(JXLEncoder.distance(0.9) - 1) < 0.001)
        #expect(abs(JXLEncoder.distance(0.3) - 6.4) < 0.001)
        #expect(JXLEncoder.distance(0) == 15)
        for distance in [0.1, 0.5, 1, 2, 4.6, 6.4, 6.6, 7, 10, 14.9] {
            #expect(
                abs(Double(JXLEncoder.distance(EncodeOptions.quality(jpegXLDistance: distance))) - distance) < 0.001)
        }
        // The curve has no distance from 6.4 to 6.56.
        #expect(EncodeOptions.quality(jpegXLDistance: 6.5) == 0.3)
        #expect(EncodeOptions.quality(jpegXLDistance: -1) == 1 && EncodeOptions.quality(jpegXLDistance: .infinity) > 0)
    }

    @Test(arguments: [EncodeOptions(), EncodeOptions(isLossless: true)])
    func aDecodeIsCancelledAtAnyCheck(_ options: EncodeOptions) throws {
        let file = try registry.encode(try picture(PixelSize(300, 280)), as: .jpegXL, options: options)
        try expectCancellation(leastChecks: 7) { _ = try registry.decode(file, context: $0) }
    }

    @Test func effortMakesSmallerFiles() throws {
        let image = try picture(PixelSize(120, 90))
        let files = try [0, 1].map {
            try registry.encode(image, as: .jpegXL, options: EncodeOptions(isLossless: true, effort: $0))
        }
        #expect(files[1].count < files[0].count)
        // A number that is none is the default.
        let odd = try registry.encode(image, as: .jpegXL, options: EncodeOptions(isLossless: true, effort: .nan))
        #expect(try odd == registry.encode(image, as: .jpegXL, options: EncodeOptions(isLossless: true)))
    }

    @Test(arguments: Orientation.allCases)
    func orientationIsKept(_ orientation: Orientation) throws {
        var image = try picture(PixelSize(40, 24))
        var info = image.info
        info.orientation = orientation
        image = Image(bitmap: image.bitmap, info: info)
        let options = EncodeOptions(isLossless: true, keepsOrientation: true)
        let read = try registry.decode(try registry.encode(image, as: .jpegXL, options: options))
        #expect(read.info.orientation == orientation)
        #expect(read.bitmap.bytes == image.bitmap.bytes)
    }

    /// The same pixels with the same profile as in a PNG look the same.
    @Test(arguments: [false, true])
    func profilesAreKeptAndApplied(_ isStored: Bool) throws {
        let png = try Fixture.read("color/rgb8-p3.png")
        let stored = try registry.decode(png, options: DecodeOptions(color: .asStored))
        let profile = try #require(stored.colorProfile)
        let data = try registry.encode(stored, as: .jpegXL, options: EncodeOptions(isLossless: true))
        let options = DecodeOptions(color: isStored ? .asStored : .sRGB)
        let read = try registry.decode(data, options: options)
        #expect(try read.bitmap.bytes == registry.decode(png, options: options).bitmap.bytes)
        #expect(read.colorProfile == (isStored ? profile : nil))
        #expect(try read.info.colorSpace == registry.probe(png).colorSpace)
    }

    /// Colours of a lossy file are stored in XYB, and come in sRGB whatever they were.
    @Test func coloursOfALossyFileAreSRGB() throws {
        let png = try Fixture.read("color/rgb8-p3.png")
        let stored = try registry.decode(png, options: DecodeOptions(color: .asStored))
        let data = try registry.encode(stored, as: .jpegXL, options: EncodeOptions(quality: 0.98))
        let read = try registry.decode(data, options: DecodeOptions(color: .asStored))
        #expect(read.colorProfile == nil)
        #expect(signalToNoise(read.bitmap.bytes, try registry.decode(png).bitmap.bytes) > 30)
    }

    // MARK: - Animations

    private func animation(_ count: Int, isOpaque: Bool = true) throws -> Image {
        let frames = try (0..<count).map { number -> (image: Image, duration: Duration) in
            var pixels = [UInt8](repeating: isOpaque ? 255 : 128, count: 24 * 16 * 4)
            for pixel in 0..<24 * 16 {
                pixels[pixel * 4] = UInt8(pixel % 24 * 10)
                pixels[pixel * 4 + 1] = pixel % 24 == number / 2 % 24 ? 250 : 10
                pixels[pixel * 4 + 2] = 60
            }
            let image = try Image(width: 24, height: 16, pixels: pixels, layout: .rgba)
            return (image, .milliseconds(number % 3 * 15 + 20))
        }
        let animation = try AnimatedImage(frames: frames, loopCount: 3)
        let first = frames[0].image
        var info = first.info
        (info.frameCount, info.loopCount) = (count, 3)
        return Image(bitmap: first.bitmap, info: info, animation: animation)
    }

    @Test(arguments: [true, false])
    func whatIsWrittenLosslesslyIsRead(_ isOpaque: Bool) throws {
        let image = try animation(9, isOpaque: isOpaque)
        let read = try registry.decode(registry.encode(image, as: .jpegXL, options: EncodeOptions(isLossless: true)))
        let (own, other) = (try #require(image.animation), try #require(read.animation))
        #expect(other.durations == own.durations)
        #expect(other.loopCount == 3)
        #expect(read.info.hasAlpha == !isOpaque)
        for index in [0, 1, 2, 8, 3, 7, 7, 4, 5, 0] {
            #expect(try own.frame(at: index).bytes == other.frame(at: index).bytes, "frame \(index)")
        }
    }

    @Test func limitsOfAnimationsHold() throws {
        let data = try registry.encode(animation(9), as: .jpegXL)
        var options = DecodeOptions()
        options.limits.maximumFrames = 4
        #expect { try registry.decode(data, options: options) } throws: { ($0 as? CodecError)?.code == "limitExceeded" }
    }

    @Test func theFirstFrameAloneIsAStill() throws {
        let data = try Fixture.read("jxl/animation.jxl")
        let image = try registry.decode(data, options: DecodeOptions(firstFrameOnly: true))
        #expect(image.animation == nil)
        #expect(try image.bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    // MARK: - Arriving

    @Test(arguments: Fixture.all.filter { $0.format == "jxl" }, [1, 700, 100_000])
    func finishedImageEqualsWholeDecode(_ fixture: Fixture, _ partSize: Int) throws {
        let data = try fixture.data()
        guard partSize > 1 || data.count < 2000 else { return }
        let decoding = try #require(registry.makeProgressive(for: data))
        var offset = 0
        while offset < data.count {
            try decoding.append(data[offset..<min(data.count, offset + partSize)])
            offset += partSize
            if partSize > 1 { _ = try decoding.preview(context: .uncancellable) }
        }
        let (finished, whole) = (try decoding.finish(context: .uncancellable), try registry.decode(data))
        #expect(finished.bitmap.bytes == whole.bitmap.bytes)
        #expect(finished.info == whole.info)
    }

    @Test(arguments: [(0.85, true), (0.85, false), (0.5, true)])
    func previewsComeCloserToTheWhole(_ quality: Double, _ isProgressive: Bool) throws {
        let image = try picture(PixelSize(600, 500))
        let options = EncodeOptions(quality: quality, isProgressive: isProgressive)
        let data = try registry.encode(image, as: .jpegXL, options: options)
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try #require(registry.makeProgressive(for: data))
        var (likeness, first) = ([Double](), 0)
        let step = data.count / 50 + 1
        for offset in stride(from: 0, to: data.count, by: step) {
            try decoding.append(data[offset..<min(data.count, offset + step)])
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            if likeness.isEmpty { first = offset + step }
            #expect(preview.info.isPreview)
            likeness.append(signalToNoise(preview.bitmap.bytes, whole))
        }
        #expect(likeness.count >= 2 && likeness.count <= 6, "\(likeness)")
        #expect(likeness == likeness.sorted(), "\(likeness)")
        #expect(likeness.first ?? 0 > 13 && likeness.last == .infinity, "\(likeness)")
        #expect(first < data.count * 2 / 3, "\(first) of \(data.count)")
    }

    /// Parts that have not arrived are transparent.
    @Test(arguments: [true, false])
    func aPictureWithAlphaArrivesInParts(_ isLossless: Bool) throws {
        let image = try picture(PixelSize(600, 500), isOpaque: false)
        let data = try registry.encode(image, as: .jpegXL, options: EncodeOptions(isLossless: isLossless))
        let whole = try registry.decode(data).bitmap.bytes
        let decoding = try #require(registry.makeProgressive(for: data))
        var likeness: [Double] = []
        let step = data.count / 50 + 1
        for offset in stride(from: 0, to: data.count, by: step) {
            try decoding.append(data[offset..<min(data.count, offset + step)])
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            likeness.append(signalToNoise(preview.bitmap.bytes, whole))
        }
        #expect(likeness.count >= 2 && likeness == likeness.sorted() && likeness.last == .infinity, "\(likeness)")
    }

    /// Squares that have arrived are final, and what has not arrived is transparent.
    @Test(arguments: [0, 0.4, 1], [8, 16])
    func aLosslessPictureArrivesInSquares(_ effort: Double, _ bits: Int) throws {
        var image = try picture(PixelSize(600, 800))
        if bits > 8 { image = try Image(DeepBitmap.sample(PixelSize(600, 800), hasAlpha: false)) }
        let options = EncodeOptions(isLossless: true, effort: effort, bitsPerChannel: bits)
        let data = try registry.encode(image, as: .jpegXL, options: options)
        let whole = try registry.decode(data)
        #expect(whole.info.bitsPerChannel == bits && whole.bitmap.isOpaque)
        let decoding = try #require(registry.makeProgressive(for: data))
        var counts: [Int] = []
        for offset in stride(from: 0, to: data.count, by: data.count / 50 + 1) {
            try decoding.append(data[offset..<min(data.count, offset + data.count / 50 + 1)])
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            counts.append(finalPixels(of: preview.bitmap, whole.bitmap))
        }
        #expect(counts.count >= 3 && counts.count <= 6 && counts == counts.sorted(), "\(counts)")
        #expect(counts.first ?? 0 >= 128 * 128 && counts.last == 600 * 800, "\(counts)")
        let part = try registry.decode(data.prefix(data.count / 2), options: DecodeOptions(allowsIncomplete: true))
        #expect(part.info.isPreview && !part.bitmap.isOpaque)
        #expect((128 * 128..<600 * 800).contains(finalPixels(of: part.bitmap, whole.bitmap)))
    }

    /// Parts that are stored from the middle of the picture on.
    @Test(arguments: ["passes-from-middle", "from-middle"])
    func aPictureFromTheMiddleComesCloserToTheWhole(_ name: String) throws {
        let data = try Fixture.read("jxl/\(name).jxl")
        let whole = try registry.decode(data).bitmap
        let decoding = try #require(registry.makeProgressive(for: data))
        var likeness: [Double] = []
        for offset in stride(from: 0, to: data.count, by: 40) {
            try decoding.append(data[offset..<min(data.count, offset + 40)])
            guard let preview = try decoding.preview(context: .uncancellable) else { continue }
            likeness.append(signalToNoise(preview.bitmap.bytes, whole.bytes))
        }
        #expect(likeness.count >= 2 && likeness == likeness.sorted() && likeness.last == .infinity, "\(likeness)")
    }

    /// Squares without loss may be predicted from those before them, which are not all there.
    @Test func squaresFromTheMiddleComeTogether() throws {
        let data = try Fixture.read("jxl/groups-from-middle.jxl")
        let decoding = try #require(registry.makeProgressive(for: data))
        for offset in stride(from: 0, to: data.count, by: 400) {
            try decoding.append(data[offset..<min(data.count, offset + 400)])
            let preview = try decoding.preview(context: .uncancellable)
            #expect(preview == nil || offset + 400 >= data.count)
        }
        #expect(try decoding.finish(context: .uncancellable).bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    /// More metadata behind the picture than previews keep: there is all of the file that there will be.
    @Test func aFileThatWasCutOffIsDecodedWhereItWouldNotArrive() throws {
        let plain = try registry.encode(
            picture(PixelSize(64, 48)), as: .jpegXL, options: EncodeOptions(isLossless: true))
        try #require(plain.starts(with: [0xFF, 0x0A]))
        func box(_ name: String, _ body: Data) -> Data {
            withUnsafeBytes(of: UInt32(body.count + 8).bigEndian) { Data($0) } + Data(name.utf8) + body
        }
        let head = box("JXL ", Data([0x0D, 0x0A, 0x87, 0x0A])) + box("ftyp", Data("jxl \0\0\0\0jxl ".utf8))
        let file = head + box("jxlc", plain) + box("xml ", Data(repeating: 32, count: 5 << 20))
        let part = try registry.decode(file.dropLast(20), options: DecodeOptions(allowsIncomplete: true))
        #expect(try part.bitmap.bytes == registry.decode(plain).bitmap.bytes)
    }

    /// Returns the number of pixels that are those of the whole picture; the others must be clear.
    private func finalPixels(of part: Bitmap, _ whole: Bitmap) -> Int {
        let (part, whole) = (part.bytes, whole.bytes)
        var (same, clear) = (0, 0)
        for pixel in stride(from: 0, to: part.count, by: 4) {
            if part[pixel..<pixel + 4] == whole[pixel..<pixel + 4] {
                same += 1
            } else if part[pixel..<pixel + 4].allSatisfy({ $0 == 0 }) {
                clear += 1
            }
        }
        #expect(part.count == whole.count && same + clear == part.count / 4)
        return same
    }

    /// Colours of more than 8 bits that are stored multiplied by their alpha are those of the file in which they are not.
    @Test func multipliedWordsAreThoseOfTheOthers() throws {
        let options = DecodeOptions(depth: .init())
        let image = try registry.decode(Fixture.read("jxl/multiplied-16-bit.jxl"), options: options)
        let other = try registry.decode(Fixture.read("jxl/straight-16-bit.jxl"), options: options)
        #expect(try #require(largestDifference(image.bitmap.bytes, other.bitmap.bytes)) <= 1)
        let (words, others) = (try #require(image.deepBitmap).words, try #require(other.deepBitmap).words)
        #expect(try #require(largestDifference(words, others)) <= 2)
    }

    @Test func anAnimationArrivesFrameByFrame() throws {
        let data = try Fixture.read("jxl/animation.jxl")
        let decoding = try #require(registry.makeProgressive(for: data))
        var counts: [Int] = []
        for offset in data.indices {
            try decoding.append(data[offset...offset])
            if let preview = try decoding.preview(context: .uncancellable) { counts.append(preview.info.frameCount) }
        }
        #expect(counts == Array(1...7))
    }

    /// The part that a cancelled call brought is not lost.
    @Test func aCancelledPartIsKept() throws {
        let data = try Fixture.read("jxl/passes.jxl")
        let decoding = try #require(registry.makeProgressive(for: data))
        let (first, second) = (data.count / 3, data.count / 2)
        try decoding.append(data[..<first])
        try? decoding.append(data[first..<second], context: WorkContext { true })
        try decoding.append(data[second...])
        #expect(try decoding.finish(context: .uncancellable).bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    @Test func whatIsThereOfACutFileIsShown() throws {
        let image = try picture(PixelSize(600, 500))
        let data = try registry.encode(image, as: .jpegXL, options: EncodeOptions(isProgressive: true))
        let half = data.prefix(data.count / 2)
        #expect { try registry.decode(half) } throws: { ($0 as? CodecError)?.code == "damagedImage" }
        let part = try registry.decode(half, options: DecodeOptions(allowsIncomplete: true))
        #expect(part.info.isPreview)
        #expect(signalToNoise(part.bitmap.bytes, image.bitmap.bytes) > 10)
    }
}
