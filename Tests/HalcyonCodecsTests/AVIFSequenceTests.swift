import Foundation
import HalcyonImage
import Testing

@testable import HalcyonAVIF
@testable import HalcyonCodecs

/// Sequences; their frames and durations are in the goldens.
@Suite struct AVIFSequenceTests {
    private let registry = CoderRegistry.standard()

    private func animation(_ count: Int, isOpaque: Bool = true) throws -> Image {
        let frames = try (0..<count).map { number -> (image: Image, duration: Duration) in
            var pixels = [UInt8](repeating: isOpaque ? 255 : 128, count: 24 * 16 * 4)
            for pixel in 0..<24 * 16 {
                pixels[pixel * 4] = UInt8(pixel % 24 * 10)
                pixels[pixel * 4 + 1] = pixel % 24 == number % 24 ? 250 : 10
                pixels[pixel * 4 + 2] = UInt8(number * 7 % 256)
            }
            let image = try Image(width: 24, height: 16, pixels: pixels, layout: .rgba)
            return (image, .milliseconds(number % 3 * 15 + 20))
        }
        let animation = try AnimatedImage(frames: frames)
        let first = frames[0].image
        var info = first.info
        (info.frameCount, info.loopCount, info.hasAlpha) = (count, 0, !isOpaque)
        return Image(bitmap: first.bitmap, info: info, animation: animation)
    }

    @Test(arguments: [true, false])
    func whatIsWrittenLosslesslyIsRead(_ isOpaque: Bool) throws {
        let image = try animation(7, isOpaque: isOpaque)
        let data = try registry.encode(image, as: .avif, options: EncodeOptions(isLossless: true))
        let read = try registry.decode(data)
        let (own, other) = (try #require(image.animation), try #require(read.animation))
        #expect(other.durations == own.durations)
        #expect(read.info.hasAlpha == !isOpaque)
        for index in [0, 1, 2, 6, 3, 4, 5, 0] {
            let difference = try largestDifference(own.frame(at: index).bytes, other.frame(at: index).bytes) ?? 255
            #expect(difference <= 1, "frame \(index)")
        }
    }

    /// The frames count, not the header of the file that they came from.
    @Test func alphaOfFramesIsKeptWhateverTheHeaderSays() throws {
        var image = try animation(3, isOpaque: false)
        var info = image.info
        info.hasAlpha = false
        image = Image(bitmap: image.bitmap, info: info, animation: image.animation)
        let read = try registry.decode(registry.encode(image, as: .avif))
        #expect(read.info.hasAlpha)
        #expect(try read.animation?.frame(at: 1).isOpaque == false)
    }

    @Test func aSeekBeginsAtAKeyFrame() throws {
        let image = try animation(70)
        let data = try registry.encode(image, as: .avif, options: EncodeOptions(quality: 0.95))
        let (own, other) = (try #require(image.animation), try #require(try registry.decode(data).animation))
        for index in [65, 3, 31, 30, 29, 69, 0] {
            #expect(
                signalToNoise(try own.frame(at: index).bytes, try other.frame(at: index).bytes) > 30, "frame \(index)")
        }
        let limited = AVIFCoder()
        let info = try limited.probe(data)
        #expect(info.frameCount == 70)
        #expect(info.loopCount == 0)
    }

    /// libavif looks for the duration of each frame from the first one on.
    @Test(.timeLimit(.minutes(1)), arguments: ["9999-durations", "9999-no-durations"])
    func thousandsOfDurationsTakeNoTime(_ name: String) throws {
        let bomb = try #require(Bomb.all.first { $0.name == "sequence-\(name).avif" })
        let animation = try #require(try registry.decode(bomb.data()).animation)
        let expected: [Duration] = (0..<9_999).map { .milliseconds(name == "9999-durations" ? 20 + $0 % 2 * 10 : 40) }
        #expect(animation.durations == expected)
    }

    /// For each small box of a track, and for each item, libavif keeps a kilobyte or more.
    @Test(arguments: [
        ("100000-tracks", "parts"), ("100000-headers", "parts"), ("100000-formats", "parts"),
        ("100000-properties", "parts"), ("60000-items", "parts"), ("empty-extents", "repeats"),
    ])
    func listsInTracksAreLimited(_ name: String, _ reason: String) throws {
        let bomb = try #require(Bomb.all.first { $0.name == "sequence-\(name).avif" })
        let error = try #require(#expect(throws: CodecError.self) { try registry.probe(bomb.data()) })
        #expect(error.code == "damagedImage" && "\(error)".contains(reason), "\(error)")
    }

    /// The time of writing is in no byte.
    @Test func equalFramesAreEqualBytes() throws {
        let data = try registry.encode(animation(3, isOpaque: false), as: .avif)
        for name in ["mvhd", "tkhd", "mdhd"] {
            let box = try #require(data.firstRange(of: Data(name.utf8)))
            #expect(data[box.upperBound + 4..<box.upperBound + 20].allSatisfy { $0 == 0 }, "\(name)")
        }
        let read = try #require(try registry.decode(data).animation)
        #expect(read.durations == [.milliseconds(20), .milliseconds(35), .milliseconds(50)])
    }

    /// The brand of a file with pictures and a track says which of them it is.
    @Test func theMajorBrandDecides() throws {
        var data = try Fixture.read("sequence/opaque.avif")
        #expect(try registry.probe(data).frameCount > 1)
        data.replaceSubrange(8..<12, with: Data("avif".utf8))
        #expect(try registry.probe(data).frameCount == 1)
        #expect(try registry.decode(data).animation == nil)
    }

    @Test func theFirstFrameAloneIsAStill() throws {
        let data = try Fixture.read("sequence/opaque.avif")
        let image = try registry.decode(data, options: DecodeOptions(firstFrameOnly: true))
        #expect(image.animation == nil)
        #expect(try image.bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    @Test func limitsOfAnimationsHold() throws {
        var options = DecodeOptions()
        options.limits.maximumFrames = 4
        #expect {
            try registry.decode(Fixture.read("sequence/opaque.avif"), options: options)
        } throws: { ($0 as? CodecError)?.code == "limitExceeded" }
    }

    /// The edit list says how often a sequence plays.
    @Test func loopsAreThoseOfTheEditList() {
        func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
            withUnsafeBytes(of: UInt32(body.count + 8).bigEndian) { [UInt8]($0) } + Array(name.utf8) + body
        }
        func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) } }
        func count(flags: UInt8, entries: UInt32 = 1, segment: UInt32, whole: UInt32) -> Int {
            let list = box("elst", [0, 0, 0, flags] + big(entries) + big(segment) + big(0) + big(0x10000))
            let header = box("tkhd", [UInt8](repeating: 0, count: 20) + big(whole) + [UInt8](repeating: 0, count: 60))
            let file = box("moov", box("trak", header + box("edts", list)))
            return file.withUnsafeBytes { AVIFMovie(ByteReader($0)).loopCount }
        }
        #expect(count(flags: 0, segment: 100, whole: 100) == 1)
        // Without the flag, the sequence plays once, whatever the list is.
        #expect(count(flags: 0, entries: 0, segment: 100, whole: 300) == 1)
        #expect(count(flags: 0, entries: 2, segment: 100, whole: 300) == 1)
        #expect(count(flags: 1, entries: 2, segment: 100, whole: 300) == 0)
        #expect(count(flags: 1, segment: 100, whole: 300) == 3)
        #expect(count(flags: 1, segment: 100, whole: 301) == 4)
        #expect(count(flags: 1, segment: 100, whole: .max) == 0)
        #expect(count(flags: 1, segment: 0, whole: 100) == 0)
        #expect(count(flags: 1, segment: 1, whole: .max - 1) == 65_535)
        #expect(box("moov", []).withUnsafeBytes { AVIFMovie(ByteReader($0)).loopCount } == 0)
    }

    @Test func aDamagedFrameIsAnErrorAndNotTheLast() throws {
        var data = try Fixture.read("sequence/opaque.avif")
        let whole = try #require(try registry.decode(data).animation)
        // In the middle of the pictures, which are at the end.
        for offset in data.count - 300..<data.count - 200 { data[offset] ^= 0x5A }
        let animation = try #require(try registry.decode(data).animation)
        var differs = 0
        for index in 0..<animation.frameCount {
            let frame = try? animation.frame(at: index)
            if try frame?.bytes != whole.frame(at: index).bytes { differs += 1 }
        }
        #expect(differs > 0)
        #expect(try animation.frame(at: 0).bytes == whole.frame(at: 0).bytes)
    }
}
