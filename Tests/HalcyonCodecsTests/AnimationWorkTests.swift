import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// The cost of an animation's frames, in whichever order they are requested, and the origin of their memory.
@Suite(.timeLimit(.minutes(5))) struct AnimationWorkTests {
    private static let size = PixelSize(6, 5)
    private static let whole = PixelRect(x: 0, y: 0, width: 6, height: 5)
    private static let part = PixelRect(x: 1, y: 1, width: 2, height: 2)

    private func story(_ frames: [AnimationFrame]) throws -> StoryCoder {
        let patches = try [Self.whole, Self.part].map { try sampleBitmap($0.size, hasAlpha: true) }
        return StoryCoder(size: Self.size, frames.map { ($0, $0.rect == Self.whole ? patches[0] : patches[1]) })
    }

    /// Frames each of which is drawn onto all before it.
    private func chain(_ count: Int) throws -> StoryCoder {
        try story([AnimationFrame](repeating: AnimationFrame(rect: Self.part, duration: .zero), count: count))
    }

    private func registry(_ story: StoryCoder, _ others: [any ImageCoder] = [], capacity: Int = 1 << 20)
        -> CoderRegistry
    {
        CoderRegistry([story] + others, budget: DecodeBudget(capacity: capacity))
    }

    // MARK: Order

    @Test func framesThatHideAllAndAreRestoredCostNothingInTurn() throws {
        let hiding = AnimationFrame(rect: Self.whole, duration: .zero, disposal: .restore, blend: .replace)
        let kept = AnimationFrame(rect: Self.part, duration: .zero)
        let story = try story((0..<400).flatMap { _ in [kept, hiding] })
        let animation = try #require(try registry(story).decode(StoryCoder.file).animation)
        var frames: [[UInt8]] = []
        for index in 0..<800 { frames.append(try animation.frame(at: index).bytes) }
        #expect(story.decodes == Array(0..<800))
        // The same as those that are drawn alone.
        let other = try #require(try registry(story).decode(StoryCoder.file).animation)
        for index in [799, 401, 400, 3, 2, 1] { #expect(try other.frame(at: index).bytes == frames[index]) }
    }

    @Test func aBackwardReaderIsStoppedBeforeItCostsTheSquare() throws {
        let story = try chain(4000)
        let limits = DecodeLimits(maximumTotalPixels: 4000 * 30)
        let animation = try #require(
            try registry(story).decode(StoryCoder.file, options: DecodeOptions(limits: limits)).animation)
        var refusals = 0
        for index in (0..<4000).reversed() {
            do {
                _ = try animation.frame(at: index)
            } catch let error as CodecError where error.code == "limitExceeded" {
                refusals += 1
            }
        }
        #expect(refusals > 1000)
        // All frames once, and 65 for each that was asked for; the square were 8 million.
        #expect(story.decodes.count <= 4000 + 4000 * 65)
        // In order, further frames may be read without end.
        for index in 0..<200 { _ = try animation.frame(at: index) }
    }

    @Test func shortAnimationsPlayInAnyOrderForEver() throws {
        let story = try chain(60)
        let limits = DecodeLimits(maximumTotalPixels: 60 * 30)
        let animation = try #require(
            try registry(story).decode(StoryCoder.file, options: DecodeOptions(limits: limits)).animation)
        for _ in 0..<30 {
            for index in (0..<60).reversed() { _ = try animation.frame(at: index) }
        }
    }

    /// Limits of `Int.max`, which stand for none, work as any other number.
    @Test func aLimitMayBeAsLargeAsANumber() throws {
        let file = CraftedFile.gif(PixelSize(1, 1), frames: 3, of: PixelRect(x: 0, y: 0, width: 1, height: 1))
        let limits = DecodeLimits(
            maximumPixels: .max, maximumSide: .max, maximumFrames: .max, maximumTotalPixels: .max,
            maximumPixelsPerByte: .max, maximumSideRatio: .max, maximumMetadataBytes: .max,
            maximumTotalPixelsPerByte: .max)
        let image = try CoderRegistry.standard().decode(file, options: DecodeOptions(limits: limits))
        let animation = try #require(image.animation)
        for index in [0, 1, 2, 0, 2, 1] { #expect(try animation.frame(at: index).size == PixelSize(1, 1)) }
    }

    /// A conversion and a player do not compete for the canvas that both have last drawn.
    @Test func aConversionIsNotDisturbedByOtherReaders() throws {
        let story = try chain(300)
        let encoder = FrameCountEncoder()
        let coders = registry(story, [encoder])
        let image = try coders.decode(StoryCoder.file)
        let animation = try #require(image.animation)
        _ = try animation.frame(at: 299)
        let before = story.decodes.count
        encoder.onFrame.withLock { $0 = { index in _ = try? animation.frame(at: 299 - index % 2) } }
        _ = try coders.encode(image, as: FrameCountEncoder.format)
        // It begins once, the other reader each second time.
        #expect(story.decodes.dropFirst(before).count { $0 == 0 } <= 1 + 151)
        #expect(encoder.frames == 300)
        let again = story.decodes.count
        encoder.onFrame.withLock { $0 = { _ in } }
        _ = try coders.encode(image, as: FrameCountEncoder.format)
        #expect(story.decodes.count - again == 300)
    }

    // MARK: Conversions

    @Test func aConversionIsRefusedBeforeItBegins() throws {
        let story = try chain(100)
        let encoder = FrameCountEncoder()
        let coders = registry(story, [encoder])
        let image = try coders.decode(StoryCoder.file)
        let options = EncodeOptions(maximumTotalPixels: 2999)
        #expect(throws: CodecError.limitExceeded("pixels of all frames", value: 3000, limit: 2999)) {
            try coders.encode(image, as: FrameCountEncoder.format, options: options)
        }
        #expect(story.decodes.isEmpty && encoder.frames == 0)
        // The limit does not apply to the first frame alone.
        #expect(throws: Never.self) {
            var options = options
            options.firstFrameOnly = true
            _ = try coders.encode(image, as: FrameCountEncoder.format, options: options)
        }
    }

    @Test func aConversionReservesWhatItTakesOnce() throws {
        let story = try chain(20)
        let encoder = FrameCountEncoder()
        let coders = registry(story, [encoder], capacity: 10_000)
        let image = try coders.decode(StoryCoder.file)
        let (held, budget) = (Lock<Set<Int>>([]), coders.budget)
        encoder.onFrame.withLock { $0 = { _ in held.withLock { _ = $0.insert(10_000 - budget.available) } } }
        _ = try coders.encode(image, as: FrameCountEncoder.format)
        let bytes = try #require(
            try coders.workingBytes(toEncode: image, as: FrameCountEncoder.format, options: EncodeOptions()))
        #expect(held.withLock { $0 } == [bytes])
        #expect(bytes >= 6 * 5 * 4 * 5)
        #expect(coders.budget.available == 10_000)
    }

    @Test(arguments: ["animation/mixed.gif", "animation/mixed-both.webp", "animation/mixed-both.png"])
    func animationEncodeBeyondBudgetIsRefused(_ file: String) throws {
        let data = try Fixture.read(file)
        let capacity = try CoderRegistry.shared.plan(data).workingBytes
        let coders = CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: DecodeBudget(capacity: capacity))
        let image = try coders.decode(data)
        _ = try image.animation?.frame(at: 1)
        for format in [ImageFormat.gif, .png, .webp] {
            let error = #expect(throws: CodecError.self) { try coders.encode(image, as: format) }
            #expect(error?.code == "limitExceeded")
            #expect(coders.budget.available == capacity)
            _ = try coders.encode(image, as: format, options: EncodeOptions(firstFrameOnly: true))
        }
    }

    @Test func aFrameReservesItsMemory() async throws {
        let story = try chain(5)
        let coders = registry(story)
        let animation = try #require(try coders.decode(StoryCoder.file).animation)
        let others = Lock(coders.budget.bytes.holdNow(1 << 20))
        let threads = ThreadPool(name: "frames", threads: 1)
        let frame = Task { try await threads.run { _ in try animation.frame(at: 1).size } }
        while coders.budget.bytes.waitingCount == 0 { await Task.yield() }
        #expect(story.decodes.isEmpty)
        others.withLock { $0 = nil }
        #expect(try await frame.value == Self.size)
        #expect(coders.budget.available == 1 << 20)
    }

    /// Preloaded frames were reserved by the decode, and take nothing more.
    @Test func preloadedFramesTakeNothing() throws {
        let story = try chain(5)
        let options = DecodeOptions(preloadAllFrames: true)
        let bytes = try registry(story).plan(StoryCoder.file, options: options).workingBytes
        let coders = registry(story, capacity: bytes)
        let animation = try #require(try coders.decode(StoryCoder.file, options: options).animation)
        let others = coders.budget.bytes.holdNow(bytes)
        #expect(try animation.frame(at: 4).size == Self.size)
        withExtendedLifetime(others) {}
    }

    // MARK: APNG

    private var palette: Data { Data([255, 0, 0, 0, 255, 0]) }

    @Test func framesShareNoMoreThanAPaletteCanBe() throws {
        let long = Data(count: 1 << 21)
        for extra in [[("tRNS", long)], [("PLTE", long)], [("tRNS", Data([255])), ("tRNS", long), ("PLTE", long)]] {
            let file = CraftedFile.apng(frames: 20, shared: [("PLTE", palette)] + extra)
            let info = try coders.probe(file)
            let frames = try #require(APNGFrames(file, info: info))
            #expect(frames.entries.count == 20)
            #expect(frames.shared.reduce(0) { $0 + $1.count } <= 768 + 256 + 24)
        }
        let plain = try #require(
            try coders.decode(CraftedFile.apng(frames: 3, shared: [("PLTE", palette)])).animation)
        let alpha = [("PLTE", palette), ("tRNS", Data([0, 255]))]
        let clear = try #require(try coders.decode(CraftedFile.apng(frames: 3, shared: alpha)).animation)
        #expect(try plain.frame(at: 2).bytes.prefix(8) == [0, 0, 255, 255, 0, 255, 0, 255])
        #expect(try clear.frame(at: 2).bytes.prefix(8) == [0, 0, 0, 0, 0, 255, 0, 255])
    }

    private let coders = CoderRegistry.standard()

    /// Most of the chunks are empty. A reader that decodes them one by one pays for each.
    @Test func aFrameInManyChunksIsTheSame() throws {
        let one = CraftedFile.apng(frames: 3, shared: [("PLTE", palette)])
        let expected = try #require(try coders.decode(one).animation)
        for parts in [2, 17, 20_000] {
            let file = CraftedFile.apng(frames: 3, shared: [("PLTE", palette)], parts: parts)
            let animation = try #require(try coders.decode(file).animation)
            for index in 0..<3 { #expect(try animation.frame(at: index).bytes == expected.frame(at: index).bytes) }
            // Their checksums are ignored.
            var changed = file
            changed[file.count - 12 - 4] ^= 1
            let other = try #require(try coders.decode(changed).animation)
            #expect(try other.frame(at: 2).bytes == expected.frame(at: 2).bytes)
        }
    }
}

/// An encoder that asks for the frames in turn and writes how many there are.
private final class FrameCountEncoder: AnimatedImageEncoder {
    static let format = ImageFormat("count", fileExtension: "count", mimeType: "image/x-count")

    let onFrame = Lock<@Sendable (Int) -> Void>({ _ in })
    private let count = Lock(0)
    var frames: Int { count.withLock { $0 } }
    var formats: [ImageFormat] { [Self.format] }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data { Data([1]) }

    func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        for index in 0..<animation.frameCount {
            _ = try animation.frame(at: index, context: context)
            count.withLock { $0 += 1 }
            onFrame.withLock { $0 }(index)
        }
        return Data([UInt8(animation.frameCount & 255)])
    }
}
