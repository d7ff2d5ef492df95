import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Images that a program makes itself, instead of the bytes of a file.
@Suite(.timeLimit(.minutes(5))) struct ImageProviderTests {
    private struct Failure: Error, CustomStringConvertible {
        let description = "nothing to draw"
    }

    /// A provider that waits at a gate, counts its calls and returns the image that it was made with.
    private struct Drawing: ImageProvider {
        var cacheKey = "drawing/7"
        var diskLevels = CacheLevels.disk
        var calls = Counter()
        var gate: ScriptedTransportGate?
        var result: Result<Image, any Error>

        init(_ image: Image, diskLevels: CacheLevels = .disk) {
            (self.diskLevels, result) = (diskLevels, .success(image))
        }

        init(file: String, _ options: DecodeOptions = DecodeOptions(), diskLevels: CacheLevels = .disk) throws {
            self.init(try Image(data: TestFiles.data(file), options: options), diskLevels: diskLevels)
        }

        func image() async throws -> Image {
            calls.increment()
            try await gate?.wait()
            return try result.get()
        }
    }

    private let flip: [any ImageProcessor] = [.flip(.vertical)]
    private let runs = Lock<[PipelineFixture]>([])

    private func nextRun(after fixture: PipelineFixture) async -> PipelineFixture {
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let next = PipelineFixture(folder: fixture.folder)
        // The folder goes with any of them.
        runs.withLock { $0 += [fixture, next] }
        return next
    }

    // MARK: - Caches

    @Test func anImageComesOfAProviderThenOfMemoryAndOfTheDisk() async throws {
        let (fixture, drawing) = (PipelineFixture(), try Drawing(file: "png/rgba8.png"))
        let image = try drawing.result.get()
        let request = ImageRequest(.provider(drawing))
        let first = try await fixture.pipeline.response(for: request)
        #expect(first.origin == .provider && first.image.hasSamePixels(as: image))
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(drawing.calls.value == 1 && fixture.decodes.value == 0)
        let next = await nextRun(after: fixture)
        #expect(await next.diskEntries() == 1)
        let flipped = try await next.pipeline.response(for: ImageRequest(.provider(drawing), processors: flip))
        #expect(flipped.origin == .disk)
        let again = try await next.pipeline.response(for: request)
        #expect(again.origin == .disk && again.image.hasSamePixels(as: image))
        #expect(try await Image(data: again.data()).hasSamePixels(as: image))
        #expect(drawing.calls.value == 1)
    }

    @Test func theFinishedImageAloneIsOnTheDiskWhereNoMoreIsWorthIt() async throws {
        let (fixture, drawing) = (PipelineFixture(), try Drawing(file: "png/rgb8.png", diskLevels: .diskProcessed))
        let request = ImageRequest(.provider(drawing), processors: flip, cachePolicy: .storeProcessed)
        let first = try await fixture.pipeline.image(for: request)
        let next = await nextRun(after: fixture)
        #expect(await next.diskEntries() == 1)
        let again = try await next.pipeline.response(for: request)
        #expect(again.origin == .disk && again.image.hasSamePixels(as: first))
        #expect(try await next.pipeline.response(for: ImageRequest(.provider(drawing))).origin == .provider)
        #expect(drawing.calls.value == 2)
    }

    @Test func aSerializerSaysHowItIsKept() async throws {
        let (fixture, drawing) = (PipelineFixture(), try Drawing(file: "png/rgb8.png"))
        var request = ImageRequest(.provider(drawing), processors: flip)
        request.serializer = .jpeg()
        _ = try await fixture.pipeline.image(for: request)
        let next = await nextRun(after: fixture)
        let kept = try await next.pipeline.data(for: request)
        let info = try CoderRegistry.shared.probe(kept)
        #expect(info.format == .jpeg && info.size == PixelSize(48, 32))
        #expect(drawing.calls.value == 1)
    }

    @Test func loadsOfAllSizesShareOneCall() async throws {
        let fixture = PipelineFixture()
        var drawing = try Drawing(file: "png/rgb8.png")
        drawing.gate = ScriptedTransportGate()
        let tasks = (1...20).map { side in
            fixture.pipeline.task(
                for: ImageRequest(
                    .provider(drawing), processors: [.resize(to: PixelSize(side, side), mode: .stretch)]))
        }
        while await !fixture.pipeline.isWaitingForBytes(20) { await Task.yield() }
        drawing.gate?.open()
        for (index, task) in tasks.enumerated() {
            #expect(try await task.response.image.size == PixelSize(index + 1, index + 1))
        }
        #expect(drawing.calls.value == 1)
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
    }

    @Test func aClosureMakesAnImage() async throws {
        let (fixture, calls) = (PipelineFixture(), Counter())
        let source = ImageSource.image(key: "dot") {
            calls.increment()
            return try Image(width: 1, height: 1, pixels: [0, 0, 255, 255])
        }
        #expect(try await fixture.pipeline.image(for: ImageRequest(source)).size == PixelSize(1, 1))
        let next = await nextRun(after: fixture)
        #expect(try await next.pipeline.response(for: ImageRequest(source)).origin == .disk)
        #expect(calls.value == 1)
        let (same, other) = (
            ImageSource.image(key: "dot") { throw Failure() }, ImageSource.image(key: "dash") { throw Failure() }
        )
        #expect(source == same && source != other)
    }

    // MARK: - Decode options

    @Test func decodeOptionsMakeTheImageThatAFileWouldHave() async throws {
        let fixture = PipelineFixture()
        let data = try TestFiles.data("png/rgba8-gradient.png")
        let drawing = Drawing(try Image(data: data))
        let size = try drawing.result.get().size
        let part = PixelRect(x: size.width / 4, y: 1, width: size.width / 2, height: size.height - 2)
        let all = [
            DecodeOptions(target: TargetSize(PixelSize(13, 9))),
            DecodeOptions(target: TargetSize(PixelSize(9, 13), mode: .fill)),
            DecodeOptions(target: TargetSize(PixelSize(400, 300), mode: .stretch, upscale: true)),
            DecodeOptions(target: TargetSize(PixelSize(4000, 3000))),
            DecodeOptions(region: part),
            DecodeOptions(target: TargetSize(PixelSize(7, 7)), region: part),
            DecodeOptions(maximumBytes: 1000), DecodeOptions(firstFrameOnly: true),
            DecodeOptions(color: .asStored),
        ]
        for options in all {
            let made = try await fixture.pipeline.image(
                for: ImageRequest(.provider(drawing), decode: options, cachePolicy: .noStore))
            let decoded = try Image(data: data, options: options)
            #expect(made.hasSamePixels(as: decoded), "\(options)")
            #expect(made.info.size == size)
        }
        #expect(drawing.calls.value == all.count && fixture.decodes.value == 0)
        let outside = DecodeOptions(region: PixelRect(x: 9999, y: 0, width: 1, height: 1))
        await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.image(for: ImageRequest(.provider(drawing), decode: outside))
        }
    }

    @Test func framesAreReducedOnDemandAndKeptOnDisk() async throws {
        let (fixture, data) = (PipelineFixture(), try TestFiles.data("gif/animated.gif"))
        let drawing = Drawing(try Image(data: data))
        let options = DecodeOptions(target: TargetSize(PixelSize(8, 8), mode: .stretch))
        let expected = try #require(try Image(data: data, options: options).animation)
        let request = ImageRequest(.provider(drawing), decode: options)
        func check(_ image: Image) throws {
            let animation = try #require(image.animation)
            #expect(animation.durations == expected.durations && animation.loopCount == expected.loopCount)
            for index in 0..<expected.frameCount {
                let (one, other) = (try animation.frame(at: index), try expected.frame(at: index))
                #expect(one.withPixels { one in other.withPixels { one.elementsEqual($0) } })
            }
        }
        try check(try await fixture.pipeline.image(for: request))
        var loaded = request
        (loaded.decode.preloadAllFrames, loaded.cachePolicy) = (true, .memoryOnly)
        let all = try await fixture.pipeline.image(for: loaded)
        try check(all)
        let cost = try #require(all.animation).cost
        #expect(cost >= expected.frameCount * 8 * 8 * 4)
        loaded.decode.firstFrameOnly = true
        #expect(try await fixture.pipeline.image(for: loaded).animation == nil)

        let next = await nextRun(after: fixture)
        let again = try await next.pipeline.response(for: request)
        #expect(again.origin == .disk)
        try check(again.image)
        #expect(drawing.calls.value == 3)
    }

    @Test func coloursOfAProfileBecomeSRGB() async throws {
        let fixture = PipelineFixture()
        let data = try TestFiles.data("color/adobe.jpg")
        let stored = try Image(data: data, options: DecodeOptions(color: .asStored))
        #expect(stored.colorProfile != nil)
        let expected = try Image(data: data)
        #expect(!stored.hasSamePixels(as: expected))
        for options in [DecodeOptions(), DecodeOptions(color: .asStored)] {
            let request = ImageRequest(.provider(Drawing(stored)), decode: options, cachePolicy: .noStore)
            let image = try await fixture.pipeline.image(for: request)
            #expect(image.hasSamePixels(as: expected) && image.colorProfile == nil)
        }
    }

    // MARK: - Errors

    /// All of its pixels are there at once, however few are wanted.
    @Test func aSmallTargetLetsNoImageBeyondTheLimitsIn() async throws {
        let fixture = PipelineFixture()
        let drawing = try Drawing(file: "png/rgb8.png")
        func options(_ pixels: Int) -> DecodeOptions {
            DecodeOptions(target: TargetSize(PixelSize(6, 4)), limits: DecodeLimits(maximumPixels: pixels))
        }
        await #expect {
            try await fixture.pipeline.image(for: ImageRequest(.provider(drawing), decode: options(48 * 32 - 1)))
        } throws: { error in
            guard case .decoding(_, .limitExceeded)? = error as? ImagePipelineError else { return false }
            return true
        }
        let request = ImageRequest(.provider(drawing), decode: options(48 * 32))
        #expect(try await fixture.pipeline.image(for: request).size == PixelSize(6, 4))
    }

    @Test func imagesBeyondTheLimitsAndPreviewsAreErrorsAndNotKept() async throws {
        let fixture = PipelineFixture()
        let drawing = try Drawing(file: "png/rgb8.png")
        let limits = DecodeOptions(limits: DecodeLimits(maximumPixels: 48 * 32 - 1))
        await #expect {
            try await fixture.pipeline.image(for: ImageRequest(.provider(drawing), decode: limits))
        } throws: { error in
            guard case .decoding(_, .limitExceeded)? = error as? ImagePipelineError else { return false }
            return true
        }
        var preview = try drawing.result.get().info
        preview.isPreview = true
        let film = try Image(data: TestFiles.data("gif/animated.gif")).animation
        let bitmap = try Image(data: TestFiles.data("png/1x1.png")).bitmap
        for bad in [
            Image(bitmap: bitmap, info: preview),
            Image(bitmap: bitmap, info: ImageInfo(format: .gif, size: bitmap.size), animation: film),
        ] {
            await #expect { try await fixture.pipeline.image(for: ImageRequest(.provider(Drawing(bad)))) } throws: {
                ($0 as? ImagePipelineError)?.code == "badSource"
            }
        }
        var failing = drawing
        failing.result = .failure(Failure())
        await #expect { try await fixture.pipeline.image(for: ImageRequest(.provider(failing))) } throws: { error in
            guard case .badSource(_, let reason, _)? = error as? ImagePipelineError else { return false }
            return reason == "nothing to draw"
        }
        let next = await nextRun(after: fixture)
        #expect(await next.diskEntries() == 0)
        #expect(try await next.pipeline.response(for: ImageRequest(.provider(drawing))).origin == .provider)
    }

    @Test func theLastCancelledLoadCancelsTheCall() async throws {
        let fixture = PipelineFixture()
        var drawing = try Drawing(file: "png/rgb8.png")
        drawing.gate = ScriptedTransportGate()
        let task = fixture.pipeline.task(for: ImageRequest(.provider(drawing)))
        while drawing.calls.value == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
    }

    // MARK: - Bytes

    @Test func itsBytesAreAnEncodingWithoutLoss() async throws {
        let fixture = PipelineFixture()
        let drawing = try Drawing(file: "jpeg/baseline-420.jpg")
        let (image, request) = (try drawing.result.get(), ImageRequest(.provider(drawing), processors: flip))
        let bytes = try await fixture.pipeline.data(for: request)
        #expect(try Image(data: bytes).hasSamePixels(as: image))
        #expect(await fixture.diskEntries() == 0)
        #expect(try await Image(data: drawing.data()).hasSamePixels(as: image))
        let response = try await fixture.pipeline.response(for: ImageRequest(.provider(drawing), cachePolicy: .noStore))
        #expect(try await response.data() == bytes)

        let original = try await fixture.pipeline.encodedImage(for: request, as: .original)
        #expect(original.data == bytes && original.mediaType == "image/png")
        // The disk keeps the bytes that were sent.
        let next = await nextRun(after: fixture)
        let calls = drawing.calls.value
        #expect(try await next.pipeline.data(for: request) == bytes)
        let jpeg = try await next.pipeline.encodedImage(for: request, as: .jpeg())
        #expect(jpeg.mediaType == "image/jpeg" && jpeg.size == image.size)
        #expect(drawing.calls.value == calls)
    }
}
