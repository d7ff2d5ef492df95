import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Animations that declare more than they should.
@Suite struct AnimationLimitTests {
    private let coders = CoderRegistry.standard()

    /// A canvas of 2x2, a first frame that fills it, and others of `size` at `place`.
    private func gif(frames: Int, place: Int = 0, size: Int = 2) -> Data {
        CraftedFile.gif(
            PixelSize(2, 2), frames: frames, of: PixelRect(x: place, y: place, width: size, height: size))
    }

    @Test func tooManyFramesAreRefused() throws {
        let data = gif(frames: 100_000)
        #expect(throws: CodecError.limitExceeded("frames", value: 100_000, limit: 10_000)) { try coders.decode(data) }
        #expect(try coders.probe(data).frameCount == 100_000)
        let options = DecodeOptions(limits: DecodeLimits(maximumFrames: 100_000))
        #expect(try coders.decode(data, options: options).animation?.frameCount == 100_000)
    }

    /// An APNG of two frames that declares others.
    private func apng(declaring frames: UInt32, shared: [(String, Data)] = [palette]) throws -> Data {
        var data = CraftedFile.apng(frames: 2, shared: shared)
        let control = try #require(data.firstRange(of: Data("acTL".utf8))).upperBound
        withUnsafeBytes(of: frames.bigEndian) { data.replaceSubrange(control..<control + 4, with: $0) }
        return data
    }

    private static let palette = ("PLTE", Data([0, 90, 255, 255, 20, 30]))
    private static let transparency = ("tRNS", Data([80]))

    /// The verdict is the same for a file that arrives byte by byte and for the whole one.
    @Test func theDeclaredFramesOfAnAPNGAreRefused() throws {
        let refusal = CodecError.limitExceeded("frames", value: 20_000, limit: 10_000)
        let data = try apng(declaring: 20_000)
        #expect(throws: refusal) { try coders.decode(data) }
        for step in [1, 7, data.count] {
            let decoding = try #require(coders.makeProgressive(for: data))
            #expect(throws: refusal, "\(step)") {
                for start in stride(from: 0, to: data.count, by: step) {
                    try decoding.append(data.dropFirst(start).prefix(step), context: .uncancellable)
                }
                _ = try decoding.finish(context: .uncancellable)
            }
        }
        #expect(try coders.decode(apng(declaring: 10_000)).animation?.frameCount == 2)
    }

    /// libpng ignores a tRNS chunk before the palette that it belongs to.
    @Test(arguments: [true, false]) func theFirstFrameOfAnAPNGIsItsStillImage(isInOrder: Bool) throws {
        let shared = isInOrder ? [Self.palette, Self.transparency] : [Self.transparency, Self.palette]
        let data = try apng(declaring: 2, shared: shared)
        let still = try coders.decode(data, options: DecodeOptions(firstFrameOnly: true)).bitmap
        #expect(still.pixel(x: 0, y: 0)?.alpha == (isInOrder ? 80 : 255))
        let animation = try #require(try coders.decode(data).animation)
        for index in 0..<2 { #expect(try animation.frame(at: index).bytes == still.bytes) }
    }

    /// The frames have no alpha; where one is cleared, or does not cover the canvas, the image has.
    @Test(
        arguments: [
            ([0, 0, 1], false), ([0, 2, 0], false), ([0, 1, 0], true), ([1, 0, 0], true), ([2, 0, 0], true),
        ],
        [true, false])
    func aCanvasThatShowsThroughIsAlpha(_ story: (disposals: [UInt8], expected: Bool), isWhole: Bool) throws {
        let (disposals, expected) = story
        var data = CraftedFile.apng(frames: 3, shared: [Self.palette])
        let controls = data.ranges(of: Data("fcTL".utf8))
        try #require(controls.count == 3)
        for (control, disposal) in zip(controls, disposals) { data[control.upperBound + 24] = disposal }
        // Later frames of two pixels, in the first column and in the second.
        for control in controls.dropFirst() { data[control.upperBound + 7] = 1 }
        data[controls[2].upperBound + 15] = 1
        guard isWhole else {
            // Without the chunk that ends the file, the last frame may go on, and is left out.
            #expect(try coders.probe(data.dropLast(12)).hasAlpha == (disposals[0] != 0))
            return
        }
        #expect(try coders.probe(data).hasAlpha == expected)
        let animation = try #require(try coders.decode(data).animation)
        let alphas = try (0..<3).flatMap {
            try animation.frame(at: $0).bytes.enumerated().filter { $0.offset % 4 == 3 }
        }
        #expect(alphas.contains { $0.element == 0 } == expected)
    }

    /// As Pillow writes them: each frame is cleared, and the next one covers it.
    @Test func aClearedFrameThatIsCoveredShowsNothingThrough() throws {
        var data = CraftedFile.apng(frames: 3, shared: [Self.palette])
        for control in data.ranges(of: Data("fcTL".utf8)) { data[control.upperBound + 24] = 1 }
        #expect(try !coders.probe(data).hasAlpha)
        let animation = try #require(try coders.decode(data).animation)
        for index in 0..<3 {
            let bytes = try animation.frame(at: index).bytes
            #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
        }
    }

    @Test func aFrameIsHeldAgainstTheLimitsByWhatIsUnpacked() throws {
        #expect(throws: CodecError.limitExceeded("pixels", value: 65_535 * 65_535, limit: 1 << 28)) {
            try coders.decode(gif(frames: 2, size: 65_535))
        }
        // Each is within the limit for one, all of them are not.
        #expect(throws: CodecError.limitExceeded("pixels of all frames", value: (17 << 28) + 4, limit: 1 << 32)) {
            try coders.decode(padded(gif(frames: 18, size: 16_384), to: 1 << 18))
        }
        let limits = DecodeLimits(maximumPixels: 99)
        #expect(throws: CodecError.limitExceeded("pixels", value: 100, limit: 99)) {
            try coders.decode(gif(frames: 2, place: 1, size: 10), options: DecodeOptions(limits: limits))
        }
        // A frame that lies outside the canvas is not unpacked.
        let outside = try #require(try coders.decode(gif(frames: 40, place: 2, size: 65_535)).animation)
        #expect(try outside.frame(at: 39).bytes == outside.frame(at: 0).bytes)
    }

    /// With bytes behind its end, which do not count as pixels of theirs.
    private func padded(_ data: Data, to count: Int) -> Data { data + Data(count: max(0, count - data.count)) }

    @Test func aFrameLargerThanTheCanvasIsUnpackedWithinTheLimits() throws {
        let animation = try #require(try coders.decode(gif(frames: 3, size: 300)).animation)
        // Its pixels are not all there.
        #expect(throws: CodecError.self) { try animation.frame(at: 1) }
        #expect(try animation.frame(at: 0).size == PixelSize(2, 2))
    }

    /// A canvas that a few bytes repeat thousands of times.
    @Test(arguments: [(10_000, 1300), (10_000, 650), (3000, 1200), (1024, 8192)])
    func theWorkOfAllFramesIsBounded(frames: Int, side: Int) throws {
        let dot = PixelRect(x: 0, y: 0, width: 1, height: 1)
        let file = CraftedFile.gif(PixelSize(side, side), frames: frames, of: dot)
        let error = #expect(throws: CodecError.self) { try coders.plan(file) }
        #expect(error?.code == "limitExceeded")
        let limits = DecodeLimits(maximumTotalPixels: .max, maximumTotalPixelsPerByte: .max)
        #expect(try coders.plan(file, options: DecodeOptions(limits: limits)).info.frameCount == frames)
    }

    @Test(arguments: [(300, 1280, 720), (2000, 640, 480), (10_000, 320, 240), (1800, 1280, 720)])
    func longAnimationsAreAllowed(frames: Int, width: Int, height: Int) throws {
        // As small as such a file may be: two thirds of a byte for a hundred pixels.
        let file = CraftedFile.gif(
            PixelSize(width, height), frames: frames, of: PixelRect(x: 0, y: 0, width: width, height: height))
        let bytes = frames * width * height / 150
        #expect(try coders.plan(padded(file, to: bytes)).info.frameCount == frames)
    }

    @Test func aFrameOutsideTheCanvasShowsNothing() throws {
        let animation = try #require(try coders.decode(gif(frames: 2, place: 900)).animation)
        #expect(try animation.frame(at: 1).bytes == animation.frame(at: 0).bytes)
    }

    @Test func framesThatWereCutOffAreLeftOut() throws {
        for file in ["animation/mixed.gif", "animation/mixed-both.webp", "animation/mixed-both.png"] {
            let data = try Fixture.read(file)
            let whole = try #require(try coders.decode(data).animation)
            var counts = Set<Int>()
            for part in 1..<40 {
                guard let image = try? coders.decode(data.prefix(data.count * part / 40)) else { continue }
                let frames = image.animation
                counts.insert(frames?.frameCount ?? 1)
                for index in 0..<(frames?.frameCount ?? 0) {
                    #expect(try frames?.frame(at: index).bytes == whole.frame(at: index).bytes, "\(file) \(part)")
                }
            }
            // An APNG needs its end, as every PNG does.
            #expect(counts.count > 4 || file.hasSuffix("png"), "\(file): \(counts)")
        }
    }

    @Test func aFrameOfAnAPNGMustLieOnItsCanvas() throws {
        let data = try Fixture.read("animation/mixed-both.png")
        let whole = try #require(try coders.decode(data).animation)
        let second = try #require(data.ranges(of: Data("fcTL".utf8)).dropFirst().first)
        for offset in [4, 8, 12, 16] {
            var broken = data
            // The highest byte of the frame's width, height or position.
            broken[second.upperBound + offset] = 0x7F
            #expect(try coders.decode(broken).animation == nil)
        }
        // A number out of its order ends the animation as well.
        var broken = data
        broken[second.upperBound + 3] ^= 1
        #expect(try coders.decode(broken).animation == nil)
        #expect(whole.frameCount == 9)
    }

    /// The chunks of an APNG, which tests drop or repeat.
    private func chunks(_ data: Data) -> [Data] {
        var (all, start) = ([Data](), 8)
        while start + 8 <= data.count {
            let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            all.append(Data(data[start..<start + 12 + length]))
            start += 12 + length
        }
        return all
    }

    private func isNamed(_ chunk: Data, _ name: String) -> Bool { chunk[4..<8].elementsEqual(name.utf8) }

    /// A sequence with gaps, without data, or of a single frame: what `probe` says is what is there.
    @Test func probeAndDecodeAgreeOnDamagedSequences() throws {
        let data = try Fixture.read("png/apng.png")
        let (signature, all) = (data.prefix(8), chunks(data))
        let registry = CoderRegistry.standard()
        for dropped in all.indices where isNamed(all[dropped], "fcTL") || isNamed(all[dropped], "fdAT") {
            var kept = all
            kept.remove(at: dropped)
            let damaged = Data(signature + kept.joined())
            let info = try registry.probe(damaged)
            let image = try registry.decode(damaged)
            #expect(image.info == info)
            #expect(image.animation?.frameCount ?? 1 == info.frameCount)
            #expect(info.frameCount < 3)
        }
        let still = Data(signature + all.filter { !isNamed($0, "fcTL") && !isNamed($0, "fdAT") }.joined())
        #expect(try registry.probe(still).frameCount == 1)
        #expect(try registry.decode(still).animation == nil)
    }
}
