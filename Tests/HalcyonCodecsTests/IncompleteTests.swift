import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Files that were cut off, decoded to what there is of them.
@Suite struct IncompleteTests {
    private let coders = CoderRegistry.standard()
    private static let options = DecodeOptions(allowsIncomplete: true)

    /// The look of the pixels that are missing.
    enum Rest: Sendable { case transparent, covered }

    /// BMP begins at the bottom.
    private static let files: [(file: String, rest: Rest)] = [
        ("jpeg/baseline-444.jpg", .transparent), ("jpeg/gray.jpg", .transparent), ("jpeg/cmyk.jpg", .transparent),
        ("jpeg/progressive.jpg", .covered), ("png/rgb8.png", .transparent), ("png/rgb16.png", .transparent),
        ("png/adam7-rgba.png", .covered), ("gif/still.gif", .transparent), ("gif/interlaced.gif", .covered),
        ("webp/lossless.webp", .transparent), ("bmp/24.bmp", .transparent), ("bmp/rle8.bmp", .transparent),
        ("bmp/32-alpha-v5.bmp", .transparent), ("strips.tiff", .transparent), ("float-strips.tiff", .transparent),
    ]

    private func read(_ file: String) throws -> Data {
        switch file {
        case "strips.tiff": CraftedFile.tiffStrips(isReal: false)
        case "float-strips.tiff": CraftedFile.tiffStrips(isReal: true)
        default: try Fixture.read(file)
        }
    }

    @Test(arguments: files) func whatArrivedIsShown(file: String, rest: Rest) throws {
        let data = try read(file)
        // libwebp shows sixteen rows of lossless pixels at a time.
        let cut = data.prefix(data.count * (file.hasPrefix("webp") ? 85 : 70) / 100)
        #expect(throws: CodecError.self) { try coders.decode(cut) }
        let image = try coders.decode(cut, options: Self.options)
        let whole = try coders.decode(data, options: Self.options)
        #expect(image.info.isPreview && !whole.info.isPreview)
        #expect(image.size == whole.size && image.animation == nil)
        #expect(try whole.bitmap.bytes == coders.decode(data).bitmap.bytes)
        let (first, last) = file.hasPrefix("bmp") ? (whole.height - 1, 0) : (0, whole.height - 1)
        switch rest {
        case .transparent:
            #expect(row(first, of: image) == row(first, of: whole))
            #expect(row(last, of: image).allSatisfy { $0 == 0 })
            #expect(!image.bitmap.isOpaque)
        case .covered:
            #expect(row(last, of: image).contains { $0 != 0 })
            #expect(image.bitmap.bytes != whole.bitmap.bytes)
        }
    }

    private func row(_ y: Int, of image: Image) -> ArraySlice<UInt8> {
        image.bitmap.bytes[y * image.width * 4..<(y + 1) * image.width * 4]
    }

    /// No file is taken for whole that is not, and none ends in anything but an error or an image.
    @Test(arguments: files + [("webp/lossy-alpha.webp", .transparent), ("tiff/rgb-lzw.tiff", .transparent)])
    func everyCut(file: String, rest: Rest) throws {
        let data = try read(file)
        let whole = try coders.decode(data).bitmap.bytes
        var shown = 0
        for count in stride(from: 0, to: data.count, by: max(1, data.count / 150)) {
            let cut = data.prefix(count)
            let image: Image
            do {
                image = try coders.decode(cut, options: Self.options)
            } catch is CodecError {
                continue
            }
            shown += 1
            if !image.info.isPreview { #expect(image.bitmap.bytes == whole, "\(count)") }
            #expect(image.info.isPreview == ((try? coders.decode(cut)) == nil), "\(count)")
        }
        // The directory of this one stands behind its pixels.
        #expect(shown > 0 || file == "tiff/rgb-lzw.tiff")
    }

    @Test func sizesAndOrientationsApply() throws {
        let data = try Fixture.read("jpeg/orientation-6.jpg")
        let end = try #require((0..<data.count).last { (try? coders.decode(data.prefix($0))) == nil })
        let cut = data.prefix(end - 5)
        var options = Self.options
        let whole = try coders.decode(data)
        #expect(try coders.decode(cut, options: options).size == whole.size)
        options.target = TargetSize(PixelSize(10, 10))
        let (small, smallOfWhole) = (
            try coders.decode(cut, options: options), try coders.decode(data, options: options)
        )
        #expect(small.size == smallOfWhole.size && small.info.isPreview && !smallOfWhole.info.isPreview)
        options.region = PixelRect(x: 0, y: 0, width: 4, height: 3)
        options.target = nil
        #expect(try coders.decode(cut, options: options).size == PixelSize(4, 3))
    }

    @Test func framesThatArrivedArePlayed() throws {
        for file in ["gif/animated.gif", "png/apng.png", "webp/animated.webp"] {
            let data = try Fixture.read(file)
            let whole = try #require(try coders.decode(data, options: Self.options).animation)
            let cut = data.prefix(data.count - 30)
            let image = try coders.decode(cut, options: Self.options)
            let animation = try #require(image.animation, "\(file)")
            #expect(image.info.isPreview && animation.frameCount == whole.frameCount - 1, "\(file)")
            #expect(try animation.frame(at: 1).bytes == whole.frame(at: 1).bytes)
            // The first frame alone is whole.
            var still = Self.options
            still.firstFrameOnly = true
            #expect(try !coders.decode(cut, options: still).info.isPreview)
        }
    }

    @Test func aFirstFrameThatWasCutOffIsAStill() throws {
        for (file, count) in [("gif/animated.gif", 150), ("png/apng.png", 400)] {
            let cut = try Fixture.read(file).prefix(count)
            #expect(throws: CodecError.self) { try coders.decode(cut) }
            let image = try coders.decode(cut, options: Self.options)
            #expect(image.info.isPreview && image.animation == nil && !image.bitmap.isOpaque, "\(file)")
        }
    }

    /// The default image of an APNG that is no frame is not what the whole file shows.
    @Test func aNoticeIsNoFrame() throws {
        let data = try Fixture.read("png/apng.png")
        let control = try #require(data.firstRange(of: Data("fcTL".utf8))).lowerBound - 4
        let hidden = data[..<control] + data[(control + 38)...]
        #expect(throws: CodecError.self) { try coders.decode(hidden.prefix(400), options: Self.options) }
    }

    @Test func damageBeforeTheEndStaysDamage() throws {
        for file in ["png/rgb8.png", "gif/still.gif"] {
            var data = try Fixture.read(file)
            // The compressed data begins with what no decoder takes.
            let start = try #require(
                file.hasPrefix("png") ? data.firstRange(of: Data("IDAT".utf8))?.upperBound : data.count / 2)
            for index in start..<min(start + 60, data.count - 20) { data[index] = 0xFF }
            #expect(throws: CodecError.self, "\(file)") { try coders.decode(data, options: Self.options) }
        }
    }

    @Test func formatsWithoutPartsStayDamaged() throws {
        for file in ["avif/444.avif", "heic/444.heic", "variants/arithmetic.jpg"] {
            let data = try Fixture.read(file)
            #expect(throws: CodecError.self, "\(file)") {
                try coders.decode(data.prefix(data.count * 3 / 4), options: Self.options)
            }
        }
    }

    /// Plans tell them apart, so that no decode is shared, and reserve what the second attempt takes.
    @Test func plansDiffer() throws {
        let data = try Fixture.read("jpeg/progressive.jpg")
        let (plain, incomplete) = (try coders.plan(data), try coders.plan(data, options: Self.options))
        #expect(plain != incomplete)
        #expect(incomplete.workingBytes == plain.workingBytes + 2 * 48 * 32 * 4 + data.count)
        #expect(!plain.allowsIncomplete && incomplete.allowsIncomplete)
        let small = CoderRegistry.standard(budget: DecodeBudget(capacity: plain.workingBytes))
        #expect(throws: CodecError.self) { try small.decode(data, options: Self.options) }
    }

    /// The end of a progressive decoding is the whole image.
    @Test func aProgressiveDecodingEndsWithTheWhole() throws {
        for file in ["jpeg/gray.jpg", "gif/still.gif", "webp/lossless.webp"] {
            let data = try Fixture.read(file)
            let decoding = try #require(coders.makeProgressive(for: data, options: Self.options))
            try decoding.append(data.prefix(data.count / 2))
            #expect(throws: CodecError.self, "\(file)") { try decoding.finish(context: .uncancellable) }
        }
    }
}
